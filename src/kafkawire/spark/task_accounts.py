"""The accounts of Spark tasks: each task writes a file, and the driver adds them up."""

from __future__ import annotations

from pyarrow import fs

from kafkawire.logs import Accounts
from kafkawire.logs.files.arrow_store import located


def write_accounts(folder: str, task: int, accounts: Accounts) -> None:
    """Write the accounts of a task. A task that runs again overwrites its file, so nothing is counted twice.

    Args:
        folder: path or URI.
        task: number of the part that the task reads.
        accounts: of that part.

    Raises:
        OSError: the file cannot be written.
    """
    system, root = located(folder)
    system.create_dir(root)
    with system.open_output_stream(f"{root}/part-{task:05}.json") as stream:
        stream.write(accounts.to_json().encode())


def read_accounts(folder: str) -> tuple[Accounts, int]:
    """The sum of the accounts of all tasks, and the number of tasks.

    Raises:
        OSError: a file cannot be read.
    """
    system, root = located(folder)
    total, tasks = Accounts(), 0
    for info in system.get_file_info(fs.FileSelector(root, allow_not_found=True)):
        if info.base_name.startswith("part-") and info.base_name.endswith(".json"):
            with system.open_input_stream(info.path) as stream:
                total.merge(Accounts.from_json(stream.read()))
            tasks += 1
    return total, tasks
