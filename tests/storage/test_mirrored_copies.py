import fcntl

from storage.forgetting import LOCK, copies_unused, copy_sign, entries, forget_copies
from storage.locations import mirrors_folder


def test_copies_go_from_every_mirror_by_their_sign_which_no_name_is_too_odd_for(tmp_path):
    odd, other = "s3://in/\udcff\ud800.pdf", "s3://in/other.pdf"
    for mirror in ("a", "b"):
        (mirrors_folder(tmp_path) / mirror).mkdir(parents=True)
        for shown in (odd, other):
            (mirrors_folder(tmp_path) / mirror / f"{copy_sign(shown)}-1.pdf").touch()
    forget_copies([odd, "/in/other.pdf"], tmp_path)
    left = {path.name for path in mirrors_folder(tmp_path).rglob("*.pdf")}
    assert left == {f"{copy_sign(other)}-1.pdf"} and len(copy_sign(odd)) == 40
    forget_copies([odd, "/in/other.pdf"], tmp_path / "nowhere")


def test_what_is_no_folder_of_copies_holds_none(tmp_path):
    mirrors_folder(tmp_path).mkdir(parents=True)
    (mirrors_folder(tmp_path) / "file").touch()
    forget_copies(["s3://in/x"], tmp_path)
    assert entries(mirrors_folder(tmp_path) / "gone") == []


def test_nothing_goes_while_copies_are_read(tmp_path):
    with copies_unused(tmp_path) as unused:
        assert unused
    with (mirrors_folder(tmp_path) / LOCK).open("w") as reader:
        fcntl.flock(reader, fcntl.LOCK_SH)
        with copies_unused(tmp_path) as unused:
            assert not unused
