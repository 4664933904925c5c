"""Every tuned number of talking to a chat model, once. None changes what a document becomes, but three enter the calls' keys.

Temperature, repeat and the pixels of a picture change what the model replies; limits, deadlines, prices and the budget do not.
"""

from pydantic import Field

from tasks.settings.base import Settings


class ChatDeadlines(Settings):
    """How long each part of a request may take."""

    connect_seconds: float = 5.0  # until the server takes the connection
    models_seconds: float = 5.0  # until it has listed its models; then it is not there
    first_token_seconds: float = Field(
        180.0, gt=0, le=3600, description="from the request to the first word; a busy server keeps calls waiting in a queue"
    )
    idle_seconds: float = Field(30.0, gt=0, le=600, description="from one word to the next; single bytes do not count")
    total_seconds: float = Field(600.0, gt=0, le=7200, description="for one request, its first word and all others")
    stop_seconds: float = 5.0  # a stopped run's wait for the calls in flight; 10 is promised


class ChatLimits(Settings):
    """How much is asked of the server at a time."""

    in_flight: int = Field(64, ge=1, le=4096, description="calls at the same time; vLLM takes 256 into a batch")
    requests_per_minute: int | None = Field(None, ge=1, description="requests in any minute; none: as fast as they are answered")
    tokens_per_minute: int | None = Field(None, ge=1, description="tokens read and written in any minute; none: no limit")
    reply_megabytes: float = 16.0  # bytes of one reply with its framing, some 300 a token; more is cut and refused


class ChatRetries(Settings):
    """What is tried again, and when the server counts as down."""

    attempts: int = Field(
        10, ge=1, le=100, description="requests for one reply; at 20 % failures, 1 of 10 million calls needs more"
    )
    silent_attempts: int = 2  # requests that may run into a deadline; each takes that long
    busy_seconds: float = Field(900.0, ge=0, le=86400, description="how long a call is kept waiting by 429 in all")
    first_wait_seconds: float = 0.5  # longest wait before the second request; it doubles each time
    longest_wait_seconds: float = 30.0  # no wait is longer, unless Retry-After asks for it
    retry_after_seconds: float = 120.0  # longest wait that Retry-After can ask for
    failures_until_pause: int = 8  # requests in a row that find no server, until all calls wait for it
    down_seconds: float = Field(
        300.0, ge=0, le=86400, description="how long all calls wait for the server; loading 32B takes minutes"
    )
    lost_until_end: int = 20  # calls lost one after the other, with none answered, that end the run


class ChatBudget(Settings):
    """What a run may use; a run that reaches it stops, keeps what it has, and goes on when given more."""

    calls: int | None = Field(None, ge=0, description="calls that are not in the cache, second questions among them")
    tokens: int | None = Field(None, ge=0, description="tokens read and written")
    money: float | None = Field(None, ge=0, description="in the currency of the prices")


class ChatPrices(Settings):
    """What tokens cost; 0 on a machine of one's own."""

    input_per_million: float = Field(0.0, ge=0, description="price of a million tokens read")
    output_per_million: float = Field(0.0, ge=0, description="price of a million tokens written")


class ChatPictures(Settings):
    """How large pictures are shown."""

    pixels: int = Field(
        1_003_520,
        ge=3136,
        le=16_777_216,
        description="pixels of a picture at most; larger ones are scaled down, 980 tokens of Qwen3-VL",
    )
    pixels_per_token: int = 1024  # Qwen3-VL reads 32 x 32 pixels as one token


class ChatEstimates(Settings):
    """What a call is taken to cost before the server has counted it."""

    characters_per_token: float = 3.0  # of text; English has 4 to 5, so that is too dear, not too cheap
    tokens_per_message: int = 32  # framing that the server adds to each message


class EmbeddingServing(Settings):
    """How texts go to an embeddings server, where one is set; deadlines for the connection and retries are those of the chat."""

    texts_per_request: int = 32  # one that is lost costs no more than these
    in_flight: int = 8  # requests, and waiting texts of a document, at the same time
    reply_seconds: float = Field(120.0, gt=0, le=3600, description="from the request to the end of its vectors")
    question_seconds: float = Field(
        30.0, gt=0, le=3600, description="for a question's vector, or a reranker's scores, all retries included: a user waits"
    )
    reply_megabytes: float = 64.0  # bytes of one reply, some 22 a number; more is refused


class ModelSettings(Settings):
    """All settings of the models that are served."""

    temperature: float = Field(0.0, ge=0, le=2, description="0: the likeliest words, because answers must repeat")
    repeat: int = 0  # of an evaluation that asks several times: each has replies of its own, and none of another's is given again
    deadlines: ChatDeadlines = ChatDeadlines()
    limits: ChatLimits = ChatLimits()
    retries: ChatRetries = ChatRetries()
    budget: ChatBudget = ChatBudget()
    prices: ChatPrices = ChatPrices()
    pictures: ChatPictures = ChatPictures()
    estimates: ChatEstimates = ChatEstimates()
    embeddings: EmbeddingServing = EmbeddingServing()
