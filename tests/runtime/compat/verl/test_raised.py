"""What a worker raises is caught by its own type through verl's words, and says where it was raised."""

from __future__ import annotations

import pickle
import sys
from functools import partial
from typing import Any

import pytest
from placewright.runtime import DataProtoFuture, Dispatch, RayClassWithInitArgs, RayResourcePool, RayWorkerGroup, Worker, register
from placewright.runtime.failure import LaunchFailed, build_refusal

from ...fake import FakePort


class OutOfTokens(RuntimeError):
    """An exception with a constructor, a slot and a method of its own, and with names that failures have too."""

    __slots__ = ("left",)

    def __init__(self, wanted: int, *, left: int) -> None:
        super().__init__(f"{wanted} wanted")
        self.wanted = wanted
        self.left = left
        self.cause = self.findings = "of the user"

    def missing(self) -> int:
        return self.wanted - self.left


class Watchful(Exception):
    """A class that does not let itself be subclassed, or constructed again."""

    def __init_subclass__(cls) -> None:
        raise RuntimeError("no subclasses, please")

    def __new__(cls, *arguments: Any) -> Watchful:
        if cls is not Watchful:
            raise RuntimeError("no objects of other classes, please")
        return super().__new__(cls, *arguments)

    @property
    def args(self) -> Any:
        raise RuntimeError("nobody looks at these")


class Odd(type):
    """A metaclass."""


class OfOddKind(Exception, metaclass=Odd):
    """A class of a metaclass."""


class Fails(Worker):
    """Raises what it is given."""

    def fail(self, problem: BaseException) -> None:
        raise problem

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def bound(self, problem: BaseException) -> None:
        raise problem

    @register(dispatch_mode=Dispatch.ONE_TO_ALL, blocking=False)
    def later(self, problem: BaseException) -> None:
        raise problem


@pytest.fixture
def group() -> RayWorkerGroup:
    pool = RayResourcePool([2], name_prefix="p", on=FakePort(2))
    return RayWorkerGroup(pool, RayClassWithInitArgs(cls=Fails), name_prefix="x")


def raised(group: RayWorkerGroup, problem: Exception) -> Any:
    """What a group raises when a worker raises this."""
    with pytest.raises(LaunchFailed) as caught:
        group.execute_rank_zero_sync("fail", problem)
    assert caught.value.__cause__ is problem
    return caught.value


@pytest.mark.parametrize("call", ["execute_all_sync", "execute_rank_zero_sync"])
def test_an_error_of_the_user_is_caught_by_its_type_and_is_a_failure_with_its_rank(group: RayWorkerGroup, call: str) -> None:
    problem = KeyError("weights")
    with pytest.raises(KeyError) as caught:
        getattr(group, call)("fail", problem)
    failure = caught.value
    assert isinstance(failure, LaunchFailed)
    assert (failure.findings[0].code, failure.findings[0].witnesses, failure.exit_code) == ("PW709", (0,), 4)
    assert (failure.args, failure.__cause__, type(failure).__name__) == (("weights",), problem, "LaunchFailed(KeyError)")
    assert str(failure) == "rank 0 of `xFails` on `host-0` raised while it ran `fail`: KeyError: 'weights'"


def test_methods_of_the_group_and_batches_to_be_raise_the_same(group: RayWorkerGroup) -> None:
    with pytest.raises(ZeroDivisionError, match="ran `bound`"):
        group.bound(ZeroDivisionError("by nothing"))
    tickets = group.later(ZeroDivisionError("by nothing"))
    with pytest.raises(ZeroDivisionError, match="ran a call"):
        DataProtoFuture(tickets, fetch=partial(group.fetch, [0, 1])).get()


def test_our_own_words_raise_the_failure_alone(group: RayWorkerGroup) -> None:
    with pytest.raises(LaunchFailed) as caught:
        group.group.call("fail", KeyError("weights"))
    assert type(caught.value) is LaunchFailed


def test_it_has_the_attributes_and_methods_of_what_was_raised(group: RayWorkerGroup) -> None:
    failure = raised(group, OutOfTokens(5, left=2))
    assert isinstance(failure, OutOfTokens)
    assert (failure.wanted, failure.left, failure.missing(), failure.args) == (5, 2, 3, ("5 wanted",))
    assert failure.findings[0].code == "PW709"
    assert isinstance(failure.cause, OutOfTokens)
    assert failure.cause.findings == "of the user"  # type: ignore[comparison-overlap]


def test_what_python_holds_in_c_is_there_too(group: RayWorkerGroup) -> None:
    missing = raised(group, FileNotFoundError(2, "No such file", "weights.bin"))
    assert isinstance(missing, OSError)
    assert (missing.errno, missing.strerror, missing.filename) == (2, "No such file", "weights.bin")
    broken = raised(group, UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"))
    assert (broken.encoding, broken.object, broken.start, broken.reason) == ("utf-8", b"\xff", 0, "invalid start byte")
    assert raised(group, StopIteration(3)).value == 3


@pytest.mark.skipif(sys.version_info < (3, 11), reason="groups of exceptions came with 3.11")
def test_a_group_of_exceptions_is_split_as_ever(group: RayWorkerGroup) -> None:
    several = raised(group, ExceptionGroup("two", [KeyError("a"), ValueError("b")]))  # noqa: F821
    assert [type(each) for each in several.exceptions] == [KeyError, ValueError]
    assert [type(each) for each in several.subgroup(KeyError).exceptions] == [KeyError]


def test_code_of_the_users_class_is_not_run_for_it(group: RayWorkerGroup) -> None:
    failure = raised(group, Watchful("x"))
    assert isinstance(failure, Watchful)
    assert failure.findings[0].message.startswith("rank 0 of `xFails`")


def test_a_class_of_another_kind_is_caught_by_its_type_too(group: RayWorkerGroup) -> None:
    assert isinstance(raised(group, OfOddKind("x")), OfOddKind)


def test_failures_of_placewright_in_a_worker_keep_their_type(group: RayWorkerGroup) -> None:
    failure = raised(group, build_refusal("PW718", "p", "no such pool", "make one"))
    assert isinstance(failure, ValueError)
    assert failure.findings[0].code == "PW709"
    assert raised(group, LaunchFailed()).findings[0].code == "PW709"
    assert raised(group, Exception("plain")).args == ("plain",)


def test_it_travels_between_processes(group: RayWorkerGroup) -> None:
    failure = raised(group, KeyError("weights"))
    again = pickle.loads(pickle.dumps(failure))
    assert isinstance(again, KeyError)
    assert (again.findings, again.args, str(again)) == (failure.findings, ("weights",), str(failure))


def test_a_worker_that_dies_raises_the_failure_alone() -> None:
    port = FakePort(2)
    group = RayWorkerGroup(RayResourcePool([2], name_prefix="p", on=port), RayClassWithInitArgs(cls=Fails), name_prefix="x")
    port.kill(group.worker_names[0])
    with pytest.raises(LaunchFailed, match="died") as caught:
        group.execute_all_sync("fail", KeyError("weights"))
    assert type(caught.value) is LaunchFailed
