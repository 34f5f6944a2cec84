# SPDX-License-Identifier: BSD-3-Clause
"""The record: bytes by client and target, passed locks, and the time of the targets. It reads no clock: the time of a
target for a request is computed, so it is exact."""

import mmap
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(__file__))
from store import KIB, MIB, StoreTest, main, write_at


class RecordTest(StoreTest):
    def test_matrix_of_clients_to_targets(self):
        mounts = self.up(3, "--targets", "4", "--stripe", "64KiB")
        for client, stripe in [(0, 0), (0, 4), (1, 1), (2, 2), (2, 7)]:
            write_at(mounts[client] / "file", stripe * 64 * KIB, bytes(64 * KIB))
        piece = 64 * KIB
        self.assertEqual(self.matrix("bytes_written"), [[2 * piece, 0, 0, 0], [0, piece, 0, 0], [0, 0, piece, piece]])
        self.assertEqual(self.matrix("requests_written"), [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]])
        self.assertEqual([client["opens"] for client in self.record()["clients"]], [2, 1, 2])
        self.assertEqual((mounts[1] / "file").read_bytes()[:5], bytes(5))
        self.assertEqual(self.matrix("bytes_read")[1], [2 * piece] * 4)
        (file,) = self.record()["files"]
        self.assertEqual((file["path"], file["stripes_written"], file["stripes_with_several_writers"]), ("/file", 5, 0))
        self.reset()
        record = self.record()
        self.assertEqual(record["files"], [])
        self.assertEqual(record["matrix"]["bytes_written"], [[0] * 4] * 3)
        self.assertEqual([target["busy_s"] for target in record["targets"]], [0] * 4)

    def test_requests_are_counted_as_they_come_and_as_targets_get_them(self):
        (mount,) = self.up(1, "--targets", "2", "--stripe", "64KiB")
        # Pages, the unit of the length of a request
        with open(mount / "file", "wb", buffering=0) as file, mmap.mmap(-1, 4 * MIB) as memory:
            self.assertEqual(file.write(memory), 4 * MIB)
        client = self.record()["clients"][0]
        self.assertGreaterEqual(client["largest_written"], 128 * KIB)
        self.assertEqual(client["requests_written"], 4 * MIB // client["largest_written"])
        # The pieces of a request in one target follow each other there: the target gets one request.
        self.assertEqual(self.matrix("requests_written"), [[client["requests_written"]] * 2])
        self.assertEqual(self.matrix("pieces_written"), [[32, 32]])

    def test_locks_stay_with_a_client_that_is_alone(self):
        mounts = self.up(2, "--targets", "2", "--stripe", "64KiB")
        for turn in range(5):
            for client in (0, 1):  # each in stripes of its own, and those on a target of its own
                write_at(mounts[client] / "file", (2 * turn + client) * 64 * KIB, bytes(64 * KIB))
        self.assertEqual(self.matrix("lock_grants"), [[1, 0], [0, 1]])
        self.assertEqual(self.matrix("lock_hand_overs"), [[0, 0], [0, 0]])

    def test_locks_pass_to_and_fro_between_two_writers_of_a_stripe(self):
        mounts = self.up(2, "--targets", "2", "--stripe", "64KiB")
        for turn in range(5):
            for client in (0, 1):
                write_at(mounts[client] / "file", (2 * turn + client) * 4096, bytes(4096))
        self.assertEqual(self.matrix("lock_grants"), [[5, 0], [5, 0]])
        self.assertEqual(self.matrix("lock_hand_overs"), [[4, 0], [5, 0]])
        (file,) = self.record()["files"]
        self.assertEqual(file["stripes_with_several_writers"], 1)
        self.assertEqual(file["stripes"], [{"component": 0, "begin": 0, "end": 1, "clients": [0, 1]}])

    def test_readers_share_and_a_writer_takes_from_all_of_them(self):
        mounts = self.up(3, "--targets", "1")
        write_at(mounts[0] / "file", 0, bytes(4096))
        self.reset()
        for mount in mounts[1:] * 2:
            with open(mount / "file", "rb", buffering=0) as file:
                self.assertEqual(len(file.read(4096)), 4096)
        # The first reader takes the writer's lock, the second shares
        self.assertEqual(self.matrix("lock_hand_overs"), [[0], [1], [0]])
        write_at(mounts[0] / "file", 0, bytes(1))
        self.assertEqual(self.matrix("lock_hand_overs"), [[1], [1], [0]])
        self.assertEqual(self.matrix("locks_taken_away"), [[2], [1], [0]])

    def test_targets_are_busy_as_long_as_was_said(self):
        mounts = self.up(
            2,
            "--targets",
            "2",
            "--stripe",
            "64KiB",
            "--rate",
            "655360KB/s",
            "--request-cost",
            "500us",
            "--lock-cost",
            "1ms",
        )
        for client in (0, 1, 0):
            write_at(mounts[client] / "file", 64 * KIB, bytes(64 * KIB))
        write_at(mounts[1] / "file", 0, bytes(32 * KIB))
        (mounts[0] / "file").read_bytes()
        first, second = (target["busy_s"] for target in self.record()["targets"])
        requests = [sum(rows) for rows in zip(*self.matrix("requests_read"))]
        # The file reads 64 KiB there: half of it a hole
        self.assertAlmostEqual(first, 50e-6 + 100e-6 + (1 + requests[0]) * 500e-6, delta=1e-9)
        self.assertAlmostEqual(second, 3 * 100e-6 + 100e-6 + (3 + requests[1]) * 500e-6, delta=1e-9)

    def test_writes_left_behind_are_served_all_the_same(self):
        (mount,) = self.up(1, "--targets", "2", "--stripe", "64KiB", "--rate", "64MB/s", "--write-behind", "256KiB")
        with open(mount / "file", "wb", buffering=0) as file:
            file.write(bytes(2 * MIB))
            os.fsync(file.fileno())
        self.assertEqual(self.matrix("bytes_written"), [[MIB, MIB]])
        for target in self.record()["targets"]:
            self.assertAlmostEqual(target["busy_s"], MIB / 64e6, delta=1e-6)

    def test_a_file_goes_by_its_last_name(self):
        mounts = self.up(2, "--targets", "2")
        (mounts[0] / "folder").mkdir()
        write_at(mounts[0] / ".file.draft", 0, b"x")
        os.rename(mounts[1] / ".file.draft", mounts[1] / "folder" / "a file")
        write_at(mounts[1] / "gone", 0, b"x")
        (mounts[0] / "gone").unlink()
        self.assertEqual([file["path"] for file in self.record()["files"]], ["/folder/a file", "/gone"])

    def test_many_clients_at_once_lose_no_count(self):
        mounts = self.up(7, "--targets", "5", "--stripe", "64KiB", "--lock-cost", "50us", "--request-cost", "20us")

        def write(client: int) -> None:
            for turn in range(20):
                write_at(mounts[client] / "file", (turn * 7 + client) * 5000, bytes(5000))

        threads = [threading.Thread(target=write, args=[client]) for client in range(7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual([sum(row) for row in self.matrix("bytes_written")], [20 * 5000] * 7)
        record = self.record()
        requests = [sum(rows) for rows in zip(*record["matrix"]["requests_written"])]
        for target, count in zip(record["targets"], requests):
            self.assertAlmostEqual(target["busy_s"], count * 20e-6, delta=1e-9)
        (file,) = record["files"]
        self.assertEqual(file["stripes_written"], -(-700000 // (64 * KIB)))


main()
