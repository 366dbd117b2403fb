// Reads the table of operations (src/operations/) for the scripts that write validators and the reference from it.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/**
 * @returns {Promise<readonly { route: string, about?: string, body?: object | 'bytes', query?: object, answer: object | 'stream', shape: string }[]>}
 *   requests and answers as JSON schemas
 */
export async function readOperations() {
  const { outputFiles } = await build({
    stdin: {
      contents: "export * from './operations.ts'; export { object, shapeText } from './schema.ts'",
      resolveDir: fileURLToPath(new URL('../src/operations', import.meta.url)),
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  })
  const { operations, object, shapeText } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
  )
  return Object.entries(operations).map(([route, { about, body, query, answer }]) => ({
    route,
    about,
    body: body?.schema ?? body,
    query: query && object(query).schema,
    answer: answer.schema ?? answer,
    shape: answer === 'stream' ? '' : shapeText(answer.schema),
  }))
}
