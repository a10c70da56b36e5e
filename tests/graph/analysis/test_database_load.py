"""Statements that load a database, in the shapes in which Performance Insights reports them."""

from diag_graph.analysis.database_load import loading_statements

SUMMARY = {
    "db_instance_identifier": "shopdb",
    "top_sql": [
        {"statement": "SELECT 1", "db_load_avg": 0.1},
        {
            "statement": "INSERT INTO bookings SELECT * FROM staging",
            "db_load_avg": 4.2,
            "wait_events": [{"name": "CPU", "db_load_avg": 0.3}, {"name": "IO:WALWrite", "db_load_avg": 3.1}],
        },
    ],
}


def test_the_heaviest_statement_is_given_with_what_it_waits_for() -> None:
    """Light statements are left out; the instance, the total and the main wait stand beside the heavy one."""
    [one] = loading_statements(SUMMARY)
    assert (one.instance, one.statement) == ("shopdb", "INSERT INTO bookings SELECT * FROM staging")
    assert (one.load, round(one.total, 3), one.wait) == (4.2, 4.3, "IO:WALWrite")


def test_the_answer_of_the_api_is_read() -> None:
    """`pi describe-dimension-keys` names the statement among dimensions and its load `Total`."""
    answer = {
        "Keys": [
            {"Dimensions": {"db.sql_tokenized.statement": "UPDATE till SET n = ?"}, "Total": 2.5},
            {"Dimensions": {"db.sql_tokenized.statement": "SELECT ?"}, "Total": 1.5},
        ]
    }
    assert [one.load for one in loading_statements(answer)] == [2.5, 1.5]


def test_what_is_no_such_report_gives_nothing() -> None:
    """Other JSON, and loads that are no numbers, are passed over."""
    for value in ({"Keys": ["a"]}, {"top_sql": [{"statement": "SELECT 1", "db_load_avg": True}]}, ["x"], 7, {}):
        assert loading_statements(value) == []
