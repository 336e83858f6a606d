import type { Connection } from './connection.ts'

/**
 * The step that made `replay` was changed after files had been made with it: some of them lack what is under way, which was
 * counted as waiting.
 */
export function countUnderWay(connection: Connection): void {
  const has = connection.row(`select 1 from pragma_table_info('replay') where name = 'under_way'`)
  if (has() !== undefined) return
  connection.exec(`
    alter table replay add column under_way integer not null default 0;
    update replay set under_way = (
      select count(*) from lease join log on log.log_id = lease.state
      where log.replay_id = replay.replay_id and log.attempt_number = 0);
    update replay set waiting = waiting - under_way;
  `)
}
