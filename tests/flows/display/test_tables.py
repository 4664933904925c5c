"""A corpus, its findings and the settings, as people and programs see them."""

from flows.display.corpus_tables import corpus_json, show_corpus, show_findings, show_settings
from flows.display.output import Output
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.records.documents import Finding, SkippedFile
from tasks.settings.ask import AllSettings, load_settings, method_of


def test_only_the_asked_documents_are_listed_and_long_lists_are_cut(in_library, capsys):
    skipped = [SkippedFile(path=f"/in/{number}\n.pdf", reason="a symbolic link") for number in range(30)]
    with open_for_reading(corpus_location("small")) as snapshot:
        one = snapshot.documents()[0]
        show_corpus("small", snapshot, skipped, Output(as_json=False), only={one.id})
        listed = corpus_json("small", snapshot, skipped)
    shown = capsys.readouterr().out
    assert one.name in shown and shown.count("\nskipped ") + shown.startswith("skipped ") == 20 and "10 more skipped" in shown
    assert "\n.pdf" not in shown and len(listed["skipped"]) == 30


def test_findings_come_with_their_remedy(capsys):
    show_findings("small", [Finding("artifacts", "artifact ab is missing", "ingest it again")], Output(as_json=False))
    shown = capsys.readouterr().out
    assert "artifact ab is missing" in shown and "ingest it again" in shown and "1 finding" in shown


def test_settings_show_value_bounds_and_reason_and_can_stand_in_a_file(capsys, tmp_path):
    show_settings(AllSettings(), Output(as_json=False), method=False)
    lines = capsys.readouterr().out.splitlines()
    assert "limits.memory_megabytes = 3072  # private memory of one parser child (ge=256, le=65536)" in lines
    assert "# models.budget.calls is not set" in " ".join(lines) and len(lines) <= 70
    (tmp_path / "all.toml").write_text("\n".join(lines))
    assert load_settings(tmp_path / "all.toml") == AllSettings()
    assert load_settings(tmp_path / "all.toml", "paper") == method_of("paper"), "what users turn no preset sets"


def test_the_method_is_shown_with_what_the_preset_makes_of_it(capsys):
    show_settings(method_of("paper"), Output(as_json=False), method=True)
    lines = capsys.readouterr().out.splitlines()
    assert 'ask.routing.formulation = "paper"' in lines and "ask.score.damping = 0.85" in lines
    assert not any(line.startswith("limits.memory_megabytes") for line in lines)
