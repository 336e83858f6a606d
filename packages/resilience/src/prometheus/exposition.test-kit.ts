import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'

export interface ParsedSample {
  readonly name: string
  readonly labels: { readonly [label: string]: string }
  readonly value: number
}

const HEADING = /^# (?<word>HELP|TYPE) (?<name>[a-z_]+) (?<rest>.+)$/
const SAMPLE = /^(?<name>[a-z_]+)(?:\{(?<labels>.*)\})? (?<value>[-+]?(?:[0-9.]+(?:e[-+]?\d+)?|Inf)|NaN)$/
const LABEL = /(?<label>[a-z_]+)="(?<text>(?:[^"\\]|\\[\\"n])*)"(?:,(?=[a-z])|$)/y

/**
 * Reads a scrape more strictly than Prometheus does: a help line and a type before the samples of each metric, which
 * stand together; nothing twice; nothing that cannot be printed; histograms that are whole and only grow.
 */
export function parseExposition(text: string): ParsedSample[] {
  assert.ok(text === '' || text.endsWith('\n'), 'ends with a line feed')
  const types = new Map<string, string>()
  const seen = new Set<string>()
  const samples: ParsedSample[] = []
  let [helped, family] = ['', '']
  for (const line of text.split('\n').slice(0, -1)) {
    const { word, name, rest } = HEADING.exec(line)?.groups ?? {}
    if (word === 'HELP') {
      assert.ok(!types.has(name!), `${name} has one heading`)
      helped = name!
    } else if (word === 'TYPE') {
      assert.equal(name, helped, `${name} is explained before its type`)
      types.set((family = name!), rest!)
    } else {
      const sample = parseSample(line)
      const suffix = sample.name.slice(family.length)
      const suffixes = types.get(family) === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      assert.ok(family !== '' && sample.name.startsWith(family) && suffixes.includes(suffix), `${line} is no ${family}`)
      const series = JSON.stringify([sample.name, sample.labels])
      assert.ok(!seen.has(series), `${line} is there once`)
      seen.add(series)
      samples.push(sample)
    }
  }
  for (const [name, type] of types) if (type === 'histogram') checkHistogram(name, samples)
  return samples
}

/** The value of a sample; undefined when there is none. */
export function valueOf(text: string, name: string, labels: ParsedSample['labels'] = {}): number | undefined {
  const found = parseExposition(text).filter(
    sample => sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )
  assert.ok(found.length < 2, `${name} is named by more labels`)
  return found[0]?.value
}

/** Prometheus's own check, where this machine has it: what it complains of, or nothing; undefined where it has not. */
export function askPromtool(text: string): string | undefined {
  const { error, stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  })
  return error === undefined ? `${stdout}${stderr}${status === 0 ? '' : `exit ${status}`}` : undefined
}

function parseSample(line: string): ParsedSample {
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(line, /[\u0000-\u001F\u007F-\u009F]|\p{Cs}/u, 'can be printed')
  const { name, labels = '', value } = SAMPLE.exec(line)?.groups ?? assert.fail(`${line} is no sample`)
  const read: { [label: string]: string } = {}
  for (let at = 0; at < labels.length; at = LABEL.lastIndex) {
    LABEL.lastIndex = at
    const { label, text } = LABEL.exec(labels)?.groups ?? assert.fail(`${labels} are no labels`)
    assert.ok(!Object.hasOwn(read, label!), `${label} is there once`)
    read[label!] = text!.replaceAll(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char))
  }
  return { name: name!, labels: read, value: numberOf(value!) }
}

function checkHistogram(family: string, samples: readonly ParsedSample[]): void {
  const [buckets, sums, counts] = ['_bucket', '_sum', '_count'].map(suffix => {
    const bySeries = new Map<string, ParsedSample[]>()
    for (const sample of samples.filter(({ name }) => name === family + suffix)) {
      const series = JSON.stringify({ ...sample.labels, le: '' })
      bySeries.set(series, [...(bySeries.get(series) ?? []), sample])
    }
    return bySeries
  })
  assert.deepEqual([...sums!.keys()], [...counts!.keys()], `${family} has a sum for each count`)
  assert.deepEqual([...buckets!.keys()], [...counts!.keys()], `${family} has buckets for each count`)
  for (const [series, own] of buckets!) {
    const ends = own.map(({ labels }) => numberOf(labels['le']!))
    const values = own.map(({ value }) => value)
    assert.ok(ends.at(-1) === Infinity && rises(ends), `${family} has its buckets in order`)
    assert.ok(values.at(-1) === counts!.get(series)![0]!.value && rises(values), `${family} adds up`)
  }
}

function rises(numbers: readonly number[]): boolean {
  return numbers.every((number, at) => at === 0 || number >= numbers[at - 1]!)
}

function numberOf(text: string): number {
  return Number(text.replace('Inf', 'Infinity'))
}
