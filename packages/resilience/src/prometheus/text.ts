/** The text format of Prometheus, version 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** All samples of one metric: they must stand together, under one heading. */
export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: readonly Sample[]
}

export interface Sample {
  /** For the parts of a histogram: `_bucket`, `_sum` and `_count`. */
  readonly suffix?: string
  readonly labels: { readonly [label: string]: string }
  readonly value: number
}

/** A family without samples is left out. */
export function asText(families: readonly Family[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(
      ({ name, type, help, samples }) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samplesOf(name, samples)}`,
    )
    .join('')
}

/** Longer names are cut: a label is repeated in every line of its series. */
const LONGEST_LABEL = 100

/**
 * A name as a label's value: short, and something that can be printed. Half of a surrogate pair would become the same
 * bytes as any other half, and two names that look alike on the wire would spoil the whole scrape.
 */
export function labelValue(name: string): string {
  return name.slice(0, LONGEST_LABEL).replaceAll(/(?!\n)[\p{Cc}\p{Cs}]/gu, '\uFFFD')
}

export function numberText(value: number): string {
  return Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? '+Inf' : '-Inf'
}

function samplesOf(name: string, samples: readonly Sample[]): string {
  return samples
    .map(({ suffix = '', labels, value }) => `${name}${suffix}{${labelsText(labels)}} ${numberText(value)}\n`)
    .join('')
}

function labelsText(labels: Sample['labels']): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}="${escape(value)}"`)
    .join(',')
}

function escape(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
