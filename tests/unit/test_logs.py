import subprocess
import sys
from pathlib import Path

LIB = Path(__file__).parents[2] / "workflow/lib"


def ran(body, log):
    code = f"import os, sys, logging, subprocess\nfrom whobenefits.errors import DataError\nfrom whobenefits.logs import log_to\nwith log_to({str(log)!r}):\n    {body}\n"
    return subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(LIB)}, capture_output=True, text=True)


def test_everything_a_job_prints_is_in_its_log_and_not_on_the_terminal(tmp_path):
    log = tmp_path / "deep" / "job.log"
    done = ran("print('one'); logging.info('two'); sys.stderr.write('three\\n'); os.system('echo four')", log)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert all(word in log.read_text() for word in ("one", "two", "three", "four"))


def test_an_error_of_the_users_is_one_line_on_the_terminal_and_in_the_log(tmp_path):
    done = ran("raise DataError('a.json: is empty: fill it')", tmp_path / "job.log")
    assert (done.returncode, done.stderr) == (1, "error: a.json: is empty: fill it\n")
    assert (tmp_path / "job.log").read_text() == "error: a.json: is empty: fill it\n"


def test_a_fault_of_ours_leaves_its_traceback_in_the_log_and_fails_the_job(tmp_path):
    done = ran("1 / 0", tmp_path / "job.log")
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr
    assert "ZeroDivisionError" in (tmp_path / "job.log").read_text()
