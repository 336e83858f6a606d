import type { ChildProcess } from 'node:child_process'

/** The first answer of a process that is the one that is waited for. */
export function whenTold<All, Answer extends All>(
  child: ChildProcess,
  isIt: (answer: All) => answer is Answer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const hear = (answer: unknown): void => {
      if (!isIt(answer as All)) return
      child.off('message', hear)
      child.off('exit', fail)
      resolve(answer as Answer)
    }
    const fail = (): void => reject(new Error(`${child.spawnargs.at(-1)} has ended`))
    child.on('message', hear)
    child.once('exit', fail)
  })
}
