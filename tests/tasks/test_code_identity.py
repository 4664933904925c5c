from tasks import code_identity
from tasks.code_identity import code_identity as identity_of_code


def test_another_line_of_code_or_of_a_prompt_is_another_identity(tmp_path, monkeypatch):
    (tmp_path / "tasks" / "prompts").mkdir(parents=True)
    seen = set()
    monkeypatch.setattr(code_identity, "ROOT", tmp_path)
    for name, text in (("tasks/a.py", "x = 1\n"), ("tasks/a.py", "x = 2\n"), ("tasks/prompts/b.md", "Read."), ("tasks/c.pyc", "")):
        (tmp_path / name).write_text(text)
        identity_of_code.cache_clear()
        seen.add(identity_of_code())
    identity_of_code.cache_clear()
    assert len(seen) == 3


def test_the_code_at_hand_has_one():
    identity_of_code.cache_clear()
    assert len(identity_of_code()) == 64
