/** A program that this machine does not have, and that could not be installed. */
export class MissingProgramError extends Error {
  readonly code = 'missing-program'

  constructor(name: string, reason: string) {
    super(`there is no ${name} on this machine: ${reason}`)
    this.name = 'MissingProgramError'
  }
}
