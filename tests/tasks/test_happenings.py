"""Who listens hears everything, while the block runs and not after it."""

from tasks.happenings import QueueSeen, heard_by, tell


def test_all_listeners_hear_what_is_told_inside_their_block():
    first, second = [], []
    with heard_by(first.append):
        tell(QueueSeen(1))
        with heard_by(second.append):
            tell(QueueSeen(2))
    tell(QueueSeen(9))
    assert first == [QueueSeen(1), QueueSeen(2)] and second == [QueueSeen(2)]
