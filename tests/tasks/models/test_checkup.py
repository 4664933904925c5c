from tasks.models.checkup import Checkup, ServerCheck, problem, told
from tasks.models.endpoints import Endpoint

ENDPOINT = Endpoint("http://localhost:1/v1", "m", "sk-secret")


def test_what_has_a_remedy_is_wrong():
    well, ill = ServerCheck("model", "m"), ServerCheck("picture", "refused", "serve a model that sees")
    assert Checkup("chat", "http://localhost:1/v1", (well, ill)).wrong == (ill,)


def test_the_key_is_told_to_nobody():
    shown = told("chat", ENDPOINT, [ServerCheck("answers", "no such key: sk-secret", "do not use sk-secret")])
    assert "sk-secret" not in repr(shown) and shown.checks[0].found == "no such key: (the key)"
    assert told("chat", Endpoint("http://localhost:1/v1"), []) == Checkup("chat", "http://localhost:1/v1", ())


def test_an_errors_own_remedy_goes_first():
    assert problem("answers", ValueError("it is down; start it"), "look") == ServerCheck("answers", "it is down", "start it")
    assert problem("answers", ValueError("it is down"), "look") == ServerCheck("answers", "it is down", "look")
