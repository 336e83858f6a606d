import { ACCESS } from './access/commands.ts'
import { BODIES } from './bodies/commands.ts'
import type { Command } from './command.ts'
import { completionCommand } from './completion.ts'
import { DEAD } from './dead/commands.ts'
import { DESTINATIONS } from './destinations/commands.ts'
import { doctorCommand } from './doctor/doctor.ts'
import { KILL } from './kill/commands.ts'
import { adviseCommand } from './lab/advise.ts'
import { assertCommand } from './lab/assert.ts'
import { casesCommand } from './lab/cases.ts'
import { compareCommand } from './lab/compare.ts'
import { explainCommand } from './lab/explain.ts'
import { reproduceCommand } from './lab/reproduce.ts'
import { runCommand } from './lab/run.ts'
import { sweepCommand } from './lab/sweep.ts'
import { tiersCommand } from './lab/tiers.ts'
import { POLICIES } from './policies/commands.ts'
import { REPLAYS } from './replays/commands.ts'
import { seriesCommand } from './series/series.ts'
import { BACKUP } from './service/backup.ts'
import { SERVICE } from './service/commands.ts'
import { STEERING } from './steering/commands.ts'
import { TASKS } from './tasks/commands.ts'
import { versionCommand } from './version-command.ts'

const LAB: readonly Command[] = [
  runCommand,
  compareCommand,
  sweepCommand,
  explainCommand,
  adviseCommand,
  assertCommand,
  tiersCommand,
  reproduceCommand,
  casesCommand,
]

const ALL: readonly Command[] = [
  ...SERVICE,
  ...BACKUP,
  doctorCommand,
  ...TASKS,
  ...BODIES,
  ...DEAD,
  ...REPLAYS,
  ...DESTINATIONS,
  ...STEERING,
  ...KILL,
  seriesCommand,
  ...POLICIES,
  ...ACCESS,
  ...LAB,
  versionCommand,
]

/** Every command of the program, in the order of its help. */
export const COMMANDS: readonly Command[] = [...ALL, completionCommand(ALL)]
