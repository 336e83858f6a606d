import type { Connection } from './connection.ts'
import { FIRST_SCHEMA } from './first-schema.ts'
import { countUnderWay } from './count-under-way.ts'
import { renameCauses } from './rename-causes.ts'

/** In SQL, or for what SQL cannot say. */
export type Migration = string | ((connection: Connection) => void)

/**
 * What the file holds. Each step is applied once, and never changed after it was committed, for somebody may have a file
 * that it made: a later version adds the next one.
 *
 *   lane ──► queue ──► due ──┐
 *     │                      ▼            waiting: (queue, due instant, task)
 *     └────► task ◄──────── lease         under way: gone with its settle or release
 *              ▲
 *              └─────────── log           what became of it, step by step; dead: those that were given up
 *                            ▲
 *                          filed          which rows of the log are whose, but for the newest
 *
 *   idempotency: whose the keys are that callers chose, but for the newest
 *
 *  1. A task's row never changes. Its newest row in `log` says what it is; without one it is as it was accepted.
 *  2. An unfinished task has a row in `due` or one in `lease`, never both; a finished one has neither.
 *  3. Between two attempts in `log` a task has at most one row without an attempt: work per task stays bounded.
 *  4. Rows of `log` are in the order of `at`, and their numbers are never used again.
 */
export const MIGRATIONS: readonly Migration[] = [
  FIRST_SCHEMA,

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

  // By the lane that they are told in, so that none stands before another; of those of before each has one of its own.
  `
  alter table callback add column lane text not null default '';
  update callback set lane = tenant || ' ' || callback_url;
  create index callback_of_lane on callback (lane);
  `,

  countUnderWay,
  renameCauses,

  // Whose key brought it: when one has leaked, what was done with it can be found.
  'alter table task add column created_by text',

  // By task, the rows of the log up to one of them; those behind it are found by whoever reads. An index was written for each
  // settle, at another place each time.
  `
  create table filed (
    seq integer not null,
    log_id integer not null,
    primary key (seq, log_id)
  ) without rowid;
  insert into filed select seq, log_id from log order by seq, log_id;
  drop index log_of_task;
  alter table store add column filed_up_to integer not null default 0;
  update store set filed_up_to = (select coalesce(max(log_id), 0) from log);
  `,

  // Lanes that have an unfinished task; counted whenever the file is opened.
  'alter table store add column open_lanes integer not null default 0',

  // An end that is to be told has the address of its task, as long as there is that: whoever has long ones writes them once.
  `update callback set callback_url = '' where task_id in (select task_id from task)`,

  // By key, the tasks up to one of them; the keys of those behind it are found by whoever looks. Each was written at another
  // place of its table.
  `
  alter table store add column keys_filed_up_to integer not null default 0;
  update store set keys_filed_up_to = (select coalesce(max(seq), 0) from task);
  `,

  // As many as requests are under way: to look through them is cheap, and an index was written by every claim and settle.
  'drop index if exists lease_end',

  // The gate that held a dead letter until its deadline. Its row of the log has as `due_at` since when.
  `
  alter table log add column held_by text;
  alter table cause add column held_by text;
  `,
]

/** Of every file that this version has opened. */
export const FORMAT: number = MIGRATIONS.length
