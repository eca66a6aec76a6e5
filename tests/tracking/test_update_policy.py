"""When a grounding update is due, by hand."""

from __future__ import annotations

from nrm.tracking.grounding import UpdatePolicy


def verdicts(policy: UpdatePolicy, *losses: float) -> list[str]:
    return [policy.decide(loss).verdict for loss in losses]


def test_what_is_explained_teaches_nothing() -> None:
    assert verdicts(UpdatePolicy(0.003), 0.5, 0.003, 0.001) == ["learn", "explained", "explained"]


def test_updates_that_bring_nothing_wait_twice_as_long_each_time() -> None:
    policy = UpdatePolicy(0.003)
    updates = []
    for check in range(40):
        if policy.decide(0.5).verdict == "learn":
            updates.append(check)
            policy.learned(before=0.2, after=0.19)
    assert updates == [0, 2, 5, 10, 19, 36]


def test_a_surprise_ends_the_waiting() -> None:
    policy = UpdatePolicy(0.003)
    policy.decide(0.3)
    policy.learned(before=0.1, after=0.1)
    policy.learned(before=0.1, after=0.1)
    assert verdicts(policy, 0.3, 0.7) == ["backing off", "learn"]


def test_an_update_that_helps_forgets_the_waiting() -> None:
    policy = UpdatePolicy(0.003)
    policy.learned(0.1, 0.1)
    policy.learned(0.1, 0.05)
    assert verdicts(policy, 0.2) == ["learn"]
    resumed = UpdatePolicy(0.003)
    resumed.load_state_dict(policy.state_dict())
    assert resumed == policy


def test_new_episodes_have_the_last_word_on_what_an_update_brought() -> None:
    policy = UpdatePolicy(0.003)
    verdicts = []
    # Held-out episodes are explained after every update, but what comes next is as bad as before, until 0.1.
    for loss in (0.5, 0.48, 0.47, 0.46, 0.46, 0.45, 0.1, 0.05):
        decision = policy.decide(loss)
        verdicts.append(decision.verdict)
        if decision.verdict == "learn":
            policy.learned(0.4, 0.001)
    assert verdicts == ["learn", "backing off", "learn", "backing off", "backing off", "learn", "learn", "learn"]
    assert policy.wait == 0
    again = UpdatePolicy(0.003)
    again.load_state_dict(policy.state_dict())
    assert again == policy


def test_small_losses_are_learned_from_while_learning_helps() -> None:
    policy = UpdatePolicy(0.003)
    # As with ten items in images of 96x96 pixels: a fifth of the loss was left, and learning had stopped for good.
    policy.learned(0.06, 0.012)
    assert verdicts(policy, 0.0126) == ["learn"]
    policy.learned(0.0126, 0.012)
    assert verdicts(policy, 0.012, 0.012) == ["backing off", "learn"]
