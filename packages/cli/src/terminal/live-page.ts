import type { Terminal } from './terminal.ts'

export interface LivePage {
  readonly draw: (text: string) => void
}

/** A page in the place of the one before it; what does not fit on the screen is left out, and said to be. */
export function livePage({ write, out }: Pick<Terminal, 'write' | 'out'>): LivePage {
  let shown = ''
  let height = 0
  return {
    draw: text => {
      const drawn = fitted(text, out.rows - 1)
      if (drawn === shown) return
      // Back to where it began, and nothing of it is left.
      write(`${height === 0 ? '' : `\u001B[${height}A\u001B[J`}${drawn}\n`)
      shown = drawn
      height = drawn.split('\n').length
    },
  }
}

/** A page that is higher than the screen could not be taken back. */
function fitted(text: string, rows: number): string {
  const lines = text.split('\n')
  if (lines.length <= rows) return text
  return [...lines.slice(0, rows - 1), `and ${lines.length - rows + 1} more lines`].join('\n')
}
