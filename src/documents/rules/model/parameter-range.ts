import { isJsonObject } from '../../../base/json/json.ts'
import type { LintRule } from '../../facts/rule.ts'
import { valueAt } from '../../../base/json/resolve-pointer.ts'

export const modelParameterRange: LintRule = {
  severity: 'warning',
  law: 'Temperature is from 0 to 2, `top_p` above 0 up to 1, `max_output_tokens` at least 1.',
  fix: 'Choose a value in the range.',
  source: 'Authoring format, "spec.model": parameters are passed through to the provider',
  kinds: ['Agent'],
  check(document, report) {
    const parameters = valueAt(document.value, '/spec/model/parameters')
    for (const { name, fits, range } of RANGES) {
      const value = isJsonObject(parameters) ? parameters[name] : undefined
      if (typeof value === 'number' && !fits(value))
        report(`/spec/model/parameters/${name}`, `${name} is ${value}; providers take ${range}.`)
    }
  },
}

const RANGES = [
  { name: 'temperature', fits: (value: number) => value >= 0 && value <= 2, range: '0 to 2' },
  { name: 'top_p', fits: (value: number) => value > 0 && value <= 1, range: 'more than 0, up to 1' },
  { name: 'max_output_tokens', fits: (value: number) => value > 0, range: '1 or more' },
]
