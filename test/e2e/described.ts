/** Holds every answer against the description that the server itself gives of its interface. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Json } from './caller.ts'

export interface Description {
  /** @throws when the description knows no such route or status, or another body */
  check(method: string, path: string, status: number, body: Json): void
}

const descriptions = new Map<string, Promise<Description>>()

export function descriptionOf(url: string): Promise<Description> {
  let found = descriptions.get(url)
  if (!found)
    descriptions.set(
      url,
      (found = fetch(`${url}/v1/openapi.json`).then(async (response) => describe(await response.json()))),
    )
  return found
}

function describe(document: Json): Description {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(document, 'openapi')
  const routes = Object.keys(document.paths).map((path) => ({
    path,
    matches: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
  }))
  const validators = new Map<string, ValidateFunction>()
  return {
    check(method, path, status, body) {
      const route = routes.find(({ matches }) => matches.test(path.split('?')[0]!))
      const operation = route && document.paths[route.path][method.toLowerCase()]
      // What the description does not name is refused, which tests look at themselves.
      if (!operation) return
      const where = `${method} ${route.path} ${status}`
      const key = operation.responses[status] ? String(status) : 'default'
      let response = operation.responses[key]
      if (!response) throw new Error(`${where} is not described`)
      let at = `/paths/${route.path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${key}`
      if (response.$ref) {
        at = response.$ref.slice(1)
        response = document.components.responses[at.split('/').at(-1)!]
      }
      if (body === undefined) return
      if (!response.content?.['application/json']) throw new Error(`${where} is described without a body`)
      const ref = `openapi#${encodeURI(at)}/content/application~1json/schema`
      let validate = validators.get(ref)
      if (!validate) validators.set(ref, (validate = ajv.compile({ $ref: ref })))
      if (!validate(body)) throw new Error(`${where}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`)
    },
  }
}
