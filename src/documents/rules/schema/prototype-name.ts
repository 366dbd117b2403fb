import { isJsonObject } from '../../../base/json/json.ts'
import { pointerTo } from '../../../base/json/pointer.ts'
import { schemaRule } from '../../facts/schema-rule.ts'
import type { LintRule } from '../../facts/rule.ts'

export const schemaPrototypeName: LintRule = {
  severity: 'warning',
  law: 'A property does not use a name that objects already have in some languages, such as `constructor`.',
  fix: 'Rename the property.',
  reason: 'Programs that copy such a property can overwrite behaviour of every object.',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check: schemaRule(['properties'], (schema, report) => {
    for (const use of schema.uses('properties'))
      for (const name of isJsonObject(use.value) ? NAMES : [])
        if (Object.hasOwn(use.value as object, name))
          report(pointerTo(use.pointer, name), `"${name}" is a property of every object in JavaScript.`, {}, true)
  }),
}

const NAMES = ['__proto__', 'constructor', 'prototype']
