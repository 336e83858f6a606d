/** What the writer can be asked for, and what it answers: plain data, for it crosses between threads. */
import type { Claim, EndName, Enqueued, Recall, Sweep, Written } from '../store.ts'
import { bodyVerbs, type BodyVerbs } from './bodies.ts'
import { claimVerb, type ClaimReply } from './claim.ts'
import { endsToldVerb } from './ends.ts'
import { enqueueVerb } from './enqueue.ts'
import { fleetVerbs, type FleetVerbs } from './fleet.ts'
import { operateVerbs, type OperateVerbs } from './operate.ts'
import { createAuditLog, writeVerb, type WriteAsk } from './records.ts'
import type { NewRow, SettlementRow } from './rows.ts'
import { settleVerb, type SettledWord } from './settle.ts'
import { sweepVerb } from './sweep.ts'
import type { Writer } from './writer.ts'

export interface WriterVerbs extends FleetVerbs, OperateVerbs, BodyVerbs {
  enqueue(tasks: readonly NewRow[]): Enqueued[]
  claim(claims: readonly Claim[]): ClaimReply[]
  settle(settlements: readonly SettlementRow[]): SettledWord[]
  recall(ask: Recall): string[]
  endsTold(ends: readonly EndName[]): null
  write(ask: WriteAsk): Written
  sweep(ask: Sweep): number
  /** At the opening: leases of an earlier process end, for it settles them no more. */
  endLeases(ask: null): null
  /** Finds out whether there is room to write. */
  probe(ask: null): null
}

export type WriterVerb = keyof WriterVerbs
export type AskOf<V extends WriterVerb> = Parameters<WriterVerbs[V]>[0]
export type AnswerOf<V extends WriterVerb> = ReturnType<WriterVerbs[V]>

/** Of the memory of this process: a transaction that fails does not take them back, so that they have no part in one. */
export const IN_MEMORY: ReadonlySet<WriterVerb> = new Set<WriterVerb>(['beat', 'take', 'give'])

export function createVerbs(writer: Writer): WriterVerbs {
  const { connection } = writer
  const audit = createAuditLog(writer)
  const endLeases = connection.write('update lease set ends_at = ?1 where ends_at > ?1')
  return {
    enqueue: enqueueVerb(writer),
    claim: claimVerb(writer),
    settle: settleVerb(writer),
    ...operateVerbs(writer, audit),
    endsTold: endsToldVerb(connection),
    ...fleetVerbs(writer),
    write: writeVerb(writer, audit),
    ...bodyVerbs(writer),
    sweep: sweepVerb(writer, audit),
    endLeases() {
      endLeases(writer.now)
      return null
    },
    probe() {
      connection.exec('insert into probe values (zeroblob(65536)); delete from probe')
      return null
    },
  }
}
