"""Tables that commands print: rows by the names of their columns, whatever the borders."""

from __future__ import annotations

import pytest

from diag_graph.analysis.document_tables import read_rows

PSQL = """\
$ psql -c "select application_name, state, replay_lag from pg_stat_replication"
 application_name |   state   |   replay_lag
------------------+-----------+-----------------
 replica-1        | streaming | 00:00:00.001502
 replica-2        | streaming | 00:14:52.77123
(2 rows)

replica-3 | streaming | 00:59:00
"""
MYSQL = """\
+----+------+---------+------+---------------------------------+--------------+
| Id | User | Command | Time | State                           | Info         |
+----+------+---------+------+---------------------------------+--------------+
|  7 | till | Query   |  912 | Waiting for table metadata lock | ALTER TABLE  |
|  8 | till | Sleep   |    1 |                                 | NULL         |
+----+------+---------+------+---------------------------------+--------------+
2 rows in set (0.00 sec)
"""
MARKDOWN = """\
| queue | messages | consumers |
| :---- | -------: | --------: |
| mails | 48213 | 0 |
"""
BATCH = "Timeout: 60.0 seconds ...\nname\tmessages\tconsumers\nmails\t48213\t0\nstock\t2\t4\n"
KAFKA = """\

GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID
mails           orders          0          120934          987234          866300          c-1-8b0e
mails           orders          1          -               120003          -               -
"""
DF = """\
Filesystem                 Size  Used Avail Use% Mounted on
/dev/mapper/ubuntu--vg-lv   50G   49G  1.0G  98% /var/lib/docker
tmpfs                      3.2G  1.9M  3.2G   1% /run
"""
PODS = """\
NAMESPACE   NAME                 READY   STATUS    RESTARTS       AGE    IP          NODE
shop        till-7d9f8b6c4-x2k   1/1     Running   62 (2m6s ago)  2d19h  10.0.0.7    worker-2
shop        stock-0              1/1     Running   0              6d     10.0.0.8    worker-1
"""
DOCKER = """\
CONTAINER ID   IMAGE       COMMAND    CREATED      STATUS                         PORTS      NAMES
0a1b2c3d4e5f   shop/till   "till"     2 days ago   Restarting (1) 5 seconds ago              till-1
1b2c3d4e5f60   shop/db     "db"       2 days ago   Up 2 days                      5432/tcp   db-1
"""
TOP = """\
    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
   4711 till      20   0   12.1g   7.4g  21000 S  99.7  47.1   1:02.03 java
      1 root      20   0  168148  11788   8264 S   0.0   0.1   0:09.11 systemd
"""


@pytest.mark.parametrize(
    ("text", "column", "rows"),
    [
        (
            PSQL,
            "replay_lag",
            {
                4: "replica-1: state streaming, replay_lag 00:00:00.001502",
                5: "replica-2: state streaming, replay_lag 00:14:52.77123",
            },
        ),
        (
            MYSQL,
            "state",
            {
                4: "7: User till, Command Query, Time 912, State Waiting for table metadata lock, Info ALTER TABLE",
                5: "8: User till, Command Sleep, Time 1, Info NULL",
            },
        ),
        (MARKDOWN, "messages", {3: "mails: messages 48213, consumers 0"}),
        (BATCH, "messages", {3: "mails: messages 48213, consumers 0", 4: "stock: messages 2, consumers 4"}),
        (
            KAFKA,
            "lag",
            {
                3: "mails: TOPIC orders, PARTITION 0, CURRENT-OFFSET 120934, LOG-END-OFFSET 987234, LAG 866300, "
                "CONSUMER-ID c-1-8b0e",
                4: "mails: TOPIC orders, PARTITION 1, CURRENT-OFFSET -, LOG-END-OFFSET 120003, LAG -, CONSUMER-ID -",
            },
        ),
        (
            DF,
            "use%",
            {
                2: "/var/lib/docker: Filesystem /dev/mapper/ubuntu--vg-lv, Size 50G, Used 49G, Avail 1.0G, Use% 98%",
                3: "/run: Filesystem tmpfs, Size 3.2G, Used 1.9M, Avail 3.2G, Use% 1%",
            },
        ),
        (
            PODS,
            "restarts",
            {
                2: "till-7d9f8b6c4-x2k: NAMESPACE shop, READY 1/1, STATUS Running, RESTARTS 62 (2m6s ago), AGE 2d19h, "
                "IP 10.0.0.7, NODE worker-2",
                3: "stock-0: NAMESPACE shop, READY 1/1, STATUS Running, RESTARTS 0, AGE 6d, IP 10.0.0.8, NODE worker-1",
            },
        ),
        (
            DOCKER,
            "status",
            {
                2: 'till-1: CONTAINER ID 0a1b2c3d4e5f, IMAGE shop/till, COMMAND "till", CREATED 2 days ago, '
                "STATUS Restarting (1) 5 seconds ago",
                3: 'db-1: CONTAINER ID 1b2c3d4e5f60, IMAGE shop/db, COMMAND "db", CREATED 2 days ago, '
                "STATUS Up 2 days, PORTS 5432/tcp",
            },
        ),
        (
            TOP,
            "%mem",
            {
                2: "java: PID 4711, USER till, PR 20, NI 0, VIRT 12.1g, RES 7.4g, SHR 21000, S S, %CPU 99.7, "
                "%MEM 47.1, TIME+ 1:02.03",
                3: "systemd: PID 1, USER root, PR 20, NI 0, VIRT 168148, RES 11788, SHR 8264, S S, %CPU 0.0, "
                "%MEM 0.1, TIME+ 0:09.11",
            },
        ),
    ],
    ids=["psql", "mysql", "markdown", "batch", "kafka", "df", "kubectl", "docker", "top"],
)
def test_a_row_says_what_its_columns_mean(text: str, column: str, rows: dict[int, str]) -> None:
    """A row by its own name, with each value under its heading, and the line that it stands on."""
    lines = text.split("\n")
    found = list(read_rows(lines, {column}))
    assert {row.index + 1: row.text for row in found} == rows
    assert all(row.name in lines[row.index] for row in found)


def test_only_tables_with_a_wanted_column_are_read() -> None:
    """A table that nothing is looked for in costs no more than its header; the next one is still seen."""
    assert list(read_rows(DF.split("\n"), {"lag"})) == []
    assert [row.name for row in read_rows((TOP + DF + "\n" + KAFKA).split("\n"), {"lag"})] == ["mails", "mails"]


@pytest.mark.parametrize(
    "text",
    [
        "ERROR FATAL LAG\n",
        "NAME STATUS LAG\n\nweb Ready 99999\n",
        "NAME   STATUS   LAG\nno resources found in shop namespace, and much more is said here\n" * 2,
        "a | lag\nb | 4\n",
        "| lag\n|---\n",
        "lag\tb\n",
        "LAG " * 2_000,
        "|" * 5_000 + "\n" + "-|" * 5_000,
    ],
)
def test_what_is_no_table_has_no_rows(text: str) -> None:
    """Words in capitals, bars without a rule, and lines of any length are no table."""
    assert [row.text for row in read_rows(text.split("\n"), {"lag"}) if "LAG 9" in row.text] == []
