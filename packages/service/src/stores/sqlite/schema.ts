/** The tables of the data file. One row of `task` says what a task is; a claim touches `due` and `lease` only. */
import type { Connection } from './connection.ts'

/** Marks a file as ours: "2ndW" in the header that SQLite leaves to applications. */
export const APPLICATION_ID = 0x326e6457

/** Of the tables below. A file of another format is refused. */
export const FORMAT = 1

export function createSchema(connection: Connection): void {
  connection.exec(`begin immediate; ${SCHEMA}
    pragma application_id = ${APPLICATION_ID}; pragma user_version = ${FORMAT}; commit`)
}

const SCHEMA = `
create table lane (lane_id integer primary key, tenant text not null, destination text not null,
  pending integer not null default 0, in_flight integer not null default 0, succeeded integer not null default 0,
  exhausted integer not null default 0, cancelled integer not null default 0, attempts integer not null default 0,
  first_attempts integer not null default 0, unique (tenant, destination));
create index lane_to on lane (destination, tenant);

-- The number begins with the lane's partition, so that the waiting queues of a partition stand together in due.
create table queue (queue_id integer primary key, lane_id integer not null, key text not null, unique (lane_id, key));

-- What was accepted; it never changes. accepted is JSON: what no statement asks for. A large body comes last, for the columns
-- behind it would be reached through all of it.
create table request (seq integer primary key, accepted text not null, idempotency_key text, request_hash text not null,
  linked_to text, body blob);

-- Keys that callers chose, as hashes of tenant and key: 16 bytes, whatever the key is.
create table key (hash blob primary key, seq integer not null) without rowid;

-- What it is now: one write per attempt. PENDING here, with a row in lease, is IN_FLIGHT. token and settled_as are those of
-- the latest settle, for one that is asked again; last_attempt leads to the chain of attempts.
create table task (seq integer primary key, task_id text not null unique, lane_id integer not null,
  lease_ms integer not null, tells_end integer not null, status text not null default 'PENDING',
  version integer not null default 1, queue_id integer not null, due_at integer not null, generation integer not null,
  attempt_number integer not null, lost_count integer not null, started_at integer not null,
  previous_delay_ms integer not null, expires_at integer not null, replay_id text, last_attempt integer,
  ended_at integer, reason text, held_by text, held_since integer, cause_id text, token text, settled_as text);
create index task_of_lane on task (lane_id);
create index task_finished on task (ended_at) where status in ('SUCCEEDED', 'CANCELLED');
create index task_dead on task (ended_at) where status = 'EXHAUSTED';
create index task_dead_of_lane on task (lane_id, ended_at) where status = 'EXHAUSTED';
create index task_of_cause on task (cause_id, ended_at) where status = 'EXHAUSTED';

-- Tasks that wait.
create table due (queue_id integer not null, due_at integer not null, seq integer not null,
  primary key (queue_id, due_at, seq)) without rowid;

-- As many as requests under way, so that it needs no index. queue_id and due_at say where the claim found the task.
create table lease (seq integer primary key, partition integer not null, token text not null,
  claimed_at integer not null, ends_at integer not null, queue_id integer not null, due_at integer not null,
  cancel_requested integer not null default 0);

-- Each names the one before it of its task, so that no index is needed.
create table attempt (attempt_id integer primary key, previous_id integer, generation integer not null,
  ordinal integer not null, started_at integer not null, duration_ms integer not null, outcome text not null,
  response_status integer, error_code text, error_message text, response text);

create table cause (cause_id text primary key, lane_id integer not null, reason text not null, held_by text,
  response_status integer, error_code text, error_message text, tasks integer not null, first_at integer not null,
  last_at integer not null) without rowid;
create index cause_of_lane on cause (lane_id, cause_id);

-- Ends that a callback must tell: partition is the task's, lane the one in which the callback is sent.
create table untold (end_id integer primary key, partition integer not null, lane text not null,
  task_id text not null, generation integer not null, tenant text not null, callback_url text not null,
  status text not null, reason text, attempt_number integer not null, unique (task_id, generation));
create index untold_of_lane on untold (partition, lane, end_id);

create table replay_count (replay_id text primary key, counts text not null) without rowid;

create table record (kind text not null, id text not null, tenant text not null, version integer not null,
  document text not null, created_at integer not null, changed_at integer not null, primary key (kind, id)) without rowid;
create index record_of_tenant on record (kind, tenant, id);

create table audit (audit_id text primary key, at integer not null, tenant text not null, actor text not null,
  action text not null, subject text not null, reason text, details text) without rowid;
create index audit_of_tenant on audit (tenant, audit_id);

create table memory (partition integer not null, lane text not null, memory text not null,
  primary key (partition, lane)) without rowid;

create table body (tenant text not null, body_ref text not null, size_bytes integer not null, content_type text not null,
  location text not null, created_at integer not null, needed_until integer not null,
  primary key (tenant, body_ref)) without rowid;
create index body_needed on body (needed_until);
create table body_total (tenant text primary key, bytes integer not null) without rowid;

-- Filled and emptied again to find out whether there is room.
create table probe (bytes blob);

-- One row: the last instant that was written.
create table store (last_at integer not null);
insert into store values (0);
`
