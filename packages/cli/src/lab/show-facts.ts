import type { Fact } from '@secondwind/lab'
import { labelled, type Page } from '../terminal/page.ts'

/** Where the numbers stand, unless a name is longer. */
const LABEL_WIDTH = 26

export function showFacts(facts: readonly Fact[], { columns }: Page): string {
  const width = Math.max(LABEL_WIDTH, ...facts.map(({ name }) => name.length + 4))
  return facts
    .map(({ name, value, note }) =>
      labelled(`  ${name}`, note === undefined ? value : `${value}   ${note}`, { columns, width }),
    )
    .join('\n')
}
