import type { Command } from '../command.ts'
import { attemptNowCommand, cancelCommand, replayCommand } from './act.ts'
import { attemptsCommand, explainCommand, getCommand, listCommand } from './read.ts'
import { submitCommand } from './submit.ts'
import { watchCommand } from './watch.ts'

export const TASKS: readonly Command[] = [
  submitCommand,
  listCommand,
  getCommand,
  attemptsCommand,
  explainCommand,
  watchCommand,
  attemptNowCommand,
  cancelCommand,
  replayCommand,
]
