// js-yaml's parser as the program reads documents with it: the same, but for two places that cost a third of its time in V8 11
// (Node 20) while its code is not optimised yet, which is nearly all of a lint. test/documents/fast-parser.test.ts holds that
// it says the same of every text.
import { readFileSync } from 'node:fs'

const REWRITES = [
  // An object that begins with a spread and then gets further keys has a shape of its own, and whatever is read of it is looked up.
  [
    /\.\.\.DEFAULT_PARSER_OPTIONS,\s+\.\.\.options,(?=\s+input: )/,
    'filename: options?.filename ?? "", maxDepth: options?.maxDepth ?? 100,',
  ],
  // What has neither tag (33) nor anchor (38), which is nearly every node, needs no copy of the state to return to.
  [
    /(?<=const ch = state\.input\.charCodeAt\(state\.position\);)(?=\s+const propertyState = snapshotState\(state\);)/,
    ' if (ch !== 33 && ch !== 38) break;',
  ],
]

/** @throws where the parser is written in another way than these were made for */
export function rewritten(source) {
  return REWRITES.reduce((text, [place, instead]) => {
    const pieces = text.split(place)
    if (pieces.length !== 2) throw new Error(`js-yaml's parser has ${pieces.length - 1} places like ${place}.`)
    return pieces.join(instead)
  }, source)
}

/** For esbuild. */
export const fastParser = {
  name: 'fast-parser',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]js-yaml[\\/]dist[\\/]js-yaml\.mjs$/ }, ({ path }) => ({
      contents: rewritten(readFileSync(path, 'utf8')),
    })),
}
