/**
 * What the file holds. Each step is applied once, in one transaction, and never changed after a release: a later version
 * adds the next one.
 *
 *   lane ──► queue ──► due ──┐
 *     │                      ▼            waiting: (queue, due instant, task)
 *     └────► task ◄──────── lease         under way: gone with its settle or release
 *              ▲
 *              └─────────── log           what became of it, step by step; dead: those that were given up
 *
 *  1. A task's row never changes. Its newest row in `log` says what it is; without one it is as it was accepted.
 *  2. An unfinished task has a row in `due` or one in `lease`, never both; a finished one has neither.
 *  3. Between two attempts in `log` a task has at most one row without an attempt: work per task stays bounded.
 *  4. Rows of `log` are in the order of `at`, and their numbers are never used again.
 */
export const MIGRATIONS: readonly string[] = [
  `
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
  `,

  // The end of a lease moves when its process is gone; when it began does not. An end that was moved already says too early
  // a beginning, but no task began before it was there.
  `
  alter table lease add column claimed_at integer not null default 0;
  update lease set claimed_at = coalesce(
    (select max(task.created_at, lease.ends_at - task.lease_ms) from task where task.seq = lease.seq), ends_at);
  `,

  // What operators set, and who did what.
  `
  create table record (
    kind text not null,
    id text not null,
    tenant text not null,
    version integer not null,
    document text not null,
    created_at integer not null,
    changed_at integer not null,
    primary key (kind, id)
  ) without rowid;
  create index record_of_tenant on record (kind, tenant, id);

  create table audit (
    audit_id integer primary key autoincrement,
    at integer not null,
    tenant text not null,
    actor text not null,
    action text not null,
    subject text not null,
    reason text,
    details text
  );
  create index audit_of_tenant on audit (tenant, audit_id);
  `,

  // Replays of many: which of them brought a task back, and what became of all that it brought. Beside the spans of
  // creation those of death, so that whoever asks for deaths of an hour need not look at all of them.
  `
  alter table task add column replay_id text;
  alter table log add column replay_id text;

  create table replay (
    replay_id text primary key,
    moved integer not null,
    waiting integer not null,
    under_way integer not null,
    sent integer not null,
    failed integer not null,
    succeeded integer not null,
    exhausted integer not null,
    cancelled integer not null,
    recent text not null
  ) without rowid;

  alter table span add column first_death_at integer;
  alter table span add column last_death_at integer;
  update span set (first_death_at, last_death_at) = (
    select min(log.at), max(log.at) from dead join log using (seq)
    where dead.seq >= block * 1024 and dead.seq < (block + 1) * 1024);
  `,

  // Each tenant has policies of its own; those of before are the first tenant's.
  `
  alter table policy rename to policy_of_all;
  create table policy (
    tenant text not null,
    policy_id text not null,
    version integer not null,
    document text not null,
    created_at integer not null,
    primary key (tenant, policy_id, version)
  ) without rowid;
  insert into policy select 'default', policy_id, version, document, created_at from policy_of_all;
  drop table policy_of_all;
  `,

  // Bodies that are too large for a row: what they are, where they lie, and how many tasks need them.
  `
  alter table task add column body_ref text;
  alter table task add column body_bytes integer;

  create table body (
    tenant text not null,
    body_ref text not null,
    size_bytes integer not null,
    content_type text not null,
    location text not null unique,
    created_at integer not null,
    uses integer not null,
    used_at integer not null,
    primary key (tenant, body_ref)
  ) without rowid;
  create index body_unused on body (used_at) where uses = 0;

  create table body_total (
    tenant text primary key,
    bytes integer not null
  ) without rowid;
  `,

  // Who wants to hear of the end of its task, and ends that are still to be told.
  `
  alter table task add column callback_url text;
  create index task_with_callback on task (seq) where callback_url is not null;

  create table callback (
    callback_id integer primary key,
    task_id text not null,
    generation integer not null,
    tenant text not null,
    callback_url text not null,
    status text not null,
    reason text,
    attempt_number integer not null,
    unique (task_id, generation)
  );
  `,
]
