import { COMMANDS } from './commands.ts'
import { bugFailure } from './failure.ts'
import { notWritable } from './output/output-file.ts'
import { giveFailure, runProgram } from './program.ts'
import { systemTerminal } from './terminal/terminal.ts'

const words = process.argv.slice(2)
const terminal = systemTerminal(error => {
  process.exit(giveFailure(notWritable('stdout', error), words, terminal))
})
// What happens outside of any command's promise ends like everything else: in words, and with a code.
process.on('uncaughtException', error => {
  process.exit(giveFailure(bugFailure(error), words, terminal))
})
process.exitCode = await runProgram(words, COMMANDS, terminal)
