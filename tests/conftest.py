"""Fixtures that several folders of tests share."""

import pytest


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """A whole run of the small grid; tests that change it put it back."""
    from checkouts import ARTICLES, copied, tiny_config  # imports torch, which few tests need

    folder = tmp_path_factory.mktemp("checkout")
    checkout = copied(folder, tiny_config(folder, ARTICLES))
    checkout.run()
    return checkout
