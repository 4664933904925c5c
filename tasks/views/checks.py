"""What `doctor` finds wrong with a corpus, and with the servers of models."""

from collections.abc import Sequence

from pydantic import BaseModel

from storage.errors import Finding
from tasks.models.checkup_of_servers import Checkup


class CorpusCheckView(BaseModel):
    corpus: str
    findings: list[Finding]


class ModelsCheckView(BaseModel):
    servers: list[Checkup]
    findings: list[Finding]


def view_checkups(checkups: Sequence[Checkup]) -> ModelsCheckView:
    wrong = [Finding(f"{one.server}: {check.check}", check.found, check.remedy) for one in checkups for check in one.wrong]
    return ModelsCheckView(servers=list(checkups), findings=wrong)
