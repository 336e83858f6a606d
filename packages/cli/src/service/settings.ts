import type { Problem } from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import { CONFIG_SETTING, SETTINGS, variableOf, type GivenSettings } from '@secondwind/service/config'
import type { GivenOptions, Option } from '../command.ts'
import { flagOf } from '../input/read-options.ts'

const ALL_SETTINGS = [...SETTINGS, CONFIG_SETTING]

/** The settings of the service, as flags. */
export const SETTING_OPTIONS: readonly Option[] = ALL_SETTINGS.map(setting => ({
  flag: `--${setting.name} ${setting.usage}`,
  say: `${setting.say} [${variableOf(setting)}]`,
  ...(setting.choices && { choices: setting.choices }),
  ...(setting.isList && { isRepeatable: true as const }),
}))

/** Words that nobody knows; what follows an unknown flag is taken for its value. */
export function problemsOfUnknown(words: readonly string[]): Problem[] {
  return words.flatMap((word, at) => {
    if (!word.startsWith('-')) return isValue(words, at) ? [] : [{ at: word, is: undefined, say: 'is a word too many' }]
    const [flag = ''] = word.split('=')
    const meant = ALL_SETTINGS.find(({ name }) => check.isNear(flag, `--${name}`))
    const hint = meant === undefined ? '' : `; did you mean --${meant.name}?`
    return [{ at: flag, is: undefined, say: `is an unknown flag${hint}` }]
  })
}

function isValue(words: readonly string[], at: number): boolean {
  const before = words[at - 1] ?? ''
  return before.startsWith('-') && !before.includes('=')
}

/** Those that were typed, by the name of the setting. */
export function settingsOf(options: GivenOptions): GivenSettings {
  const given = ALL_SETTINGS.map(({ name }) => {
    const found = Object.entries(options).find(([option]) => flagOf(option) === `--${name}`)?.[1]
    return [name, typeof found === 'boolean' ? undefined : found]
  })
  return Object.fromEntries(given) as GivenSettings
}
