/** What the file held at first; `migrations.ts` says what its tables mean, and what came later. */
export const FIRST_SCHEMA = `
create table lane (
  lane_id integer primary key,
  key text not null unique,
  pending integer not null default 0,
  in_flight integer not null default 0,
  succeeded integer not null default 0,
  exhausted integer not null default 0,
  cancelled integer not null default 0,
  attempts integer not null default 0,
  first_attempts integer not null default 0
);

-- The number begins with the lane's partition, so that the waiting queues of a partition stand together in due.
create table queue (
  queue_id integer primary key,
  lane_id integer not null,
  key text not null,
  unique (lane_id, key)
);

-- The body comes last: what stands behind a large one is reached only through all of it.
create table task (
  seq integer primary key,
  task_id text not null unique,
  lane_id integer not null,
  queue_id integer not null,
  due_at integer not null,
  policy_id text not null,
  policy_version integer not null,
  policy text,
  idempotency_key text,
  request_hash text not null,
  target_url text not null,
  method text not null,
  headers text not null,
  metadata text,
  created_at integer not null,
  deadline_at integer,
  lease_ms integer not null,
  generation integer not null,
  attempt_number integer not null,
  lost_count integer not null,
  started_at integer not null,
  previous_delay_ms integer not null,
  expires_at integer not null,
  body blob
);
create index task_of_lane on task (lane_id);

-- Between which instants the tasks of a block of numbers were created: lists skip the blocks that cannot match.
create table span (
  block integer primary key,
  oldest_at integer not null,
  newest_at integer not null
);

-- Only keys that callers chose, each behind its tenant and a space. As they are and not hashed: keys that are counted up
-- or begin with a date stay side by side, and a batch of them touches few pages.
create table idempotency (
  key text primary key,
  seq integer not null
) without rowid;

-- state is the row of log that holds the task's progress; 0: the task's own row.
create table due (
  queue_id integer not null,
  due_at integer not null,
  seq integer not null,
  state integer not null,
  version integer not null,
  primary key (queue_id, due_at, seq)
) without rowid;

create table lease (
  seq integer primary key,
  partition integer not null,
  ends_at integer not null,
  token text not null,
  queue_id integer not null,
  due_at integer not null,
  state integer not null,
  version integer not null,
  cancel_requested integer not null
);
create index lease_end on lease (partition, ends_at);

-- token and settled_as are those of the latest settle, for one that is asked again; attempt_id is the row of the newest
-- attempt, this one's own number where it has one, and 0 before the first.
create table log (
  log_id integer primary key,
  seq integer not null,
  at integer not null,
  status text not null,
  reason text,
  queue_id integer,
  due_at integer,
  version integer not null,
  token text,
  settled_as text,
  attempt_id integer not null,
  generation integer not null,
  attempt_number integer not null,
  lost_count integer not null,
  started_at integer not null,
  previous_delay_ms integer not null,
  expires_at integer not null,
  ordinal integer,
  attempt_started_at integer,
  duration_ms integer,
  outcome text,
  response_status integer,
  error_code text,
  error_message text,
  response text
);
create index log_of_task on log (seq);

create table dead (
  seq integer primary key,
  lane_id integer not null,
  cause_id text not null
);
create index dead_of_lane on dead (lane_id);
create index dead_of_cause on dead (cause_id);

create table cause (
  cause_id text primary key,
  lane_id integer not null,
  tenant text not null,
  reason text not null,
  response_status integer,
  error_code text,
  error_message text,
  tasks integer not null,
  first_at integer not null,
  last_at integer not null
);
create index cause_of_tenant on cause (tenant, tasks desc, cause_id);
create index cause_of_lane on cause (lane_id, tasks desc, cause_id);

create table policy (
  policy_id text not null,
  version integer not null,
  document text not null,
  created_at integer not null,
  primary key (policy_id, version)
) without rowid;

create table memory (
  partition integer not null,
  lane text not null,
  memory text not null,
  primary key (partition, lane)
) without rowid;

-- Filled and emptied again to find out whether there is room.
create table probe (bytes blob);

-- One row: the last instant that was written, the tasks of each status, and how far each sweep has come.
create table store (
  last_at integer not null,
  pending integer not null,
  in_flight integer not null,
  succeeded integer not null,
  exhausted integer not null,
  cancelled integer not null,
  swept text not null
);
insert into store values (0, 0, 0, 0, 0, 0, '{}');
`
