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

/** Those that were typed, by the name of the setting. */
export function settingsOf(options: GivenOptions): GivenSettings {
  const given = ALL_SETTINGS.map(({ name }) => {
    const found = Object.entries(options).find(([option]) => flagOf(option) === `--${name}`)?.[1]
    return [name, typeof found === 'boolean' ? undefined : found]
  })
  return Object.fromEntries(given) as GivenSettings
}
