/** Components of an Agent Spec configuration, and what its references lead to. References lead nowhere else. */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { foreignTextOf } from '../../agents/foreign-value.ts'
import { quoteForeign } from '../../foreign-text.ts'

const MAX_HOPS = 32

export class SpecComponents {
  readonly #declared = new Map<string, JsonObject>()
  readonly source: string

  /** @param source the name of the file, for messages */
  constructor(source: string) {
    this.source = source
  }

  /** Takes what a value declares below `$referenced_components`, at any depth. @throws Failure `usage` for two components of one id */
  declare(value: JsonValue): void {
    if (Array.isArray(value)) return value.forEach((each) => this.declare(each))
    if (!isJsonObject(value)) return
    const declared = value['$referenced_components']
    for (const [id, component] of Object.entries(isJsonObject(declared) ? declared : {})) {
      const known = this.#declared.get(id)
      if (known && canonicalJson(known) !== canonicalJson(component))
        throw usageFailure(`${this.source} declares the component ${quoteForeign(id)} twice.`)
      if (!isJsonObject(component)) throw usageFailure(`${this.source}: ${quoteForeign(id)} is no component.`)
      this.#declared.set(id, component)
    }
    for (const each of Object.values(value)) this.declare(each)
  }

  /** A component, or what a reference leads to; undefined for null. @throws Failure `usage` */
  resolve(value: JsonValue | undefined, at: string): JsonObject | undefined {
    let here = value
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      if (here === undefined || here === null) return undefined
      if (!isJsonObject(here)) throw usageFailure(`${this.source}: ${at} is no component.`)
      const id = here['$component_ref']
      if (id === undefined) return here
      const found = typeof id === 'string' ? this.#declared.get(id) : undefined
      if (!found)
        throw usageFailure(
          `${this.source}: ${at} refers to the component ${quoteForeign(id)}, which is not there.`,
          'Give the file that has it: --component FILE',
        )
      here = found
    }
    throw usageFailure(`${this.source}: ${at} refers to itself.`)
  }
}

export const componentTypeOf = (component: JsonObject): string => foreignTextOf(component['component_type']) ?? ''
