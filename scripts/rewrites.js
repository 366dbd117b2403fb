// Libraries as the program has them: the same, but for a few lines that cost much of a short command's time.
// test/documents/fast-parser.test.ts holds that js-yaml says the same of every text.
import { readFileSync } from 'node:fs'

const REWRITES = [
  {
    file: /[\\/]js-yaml[\\/]dist[\\/]js-yaml\.mjs$/,
    lines: [
      // An object that begins with a spread and then gets further keys has a shape of its own in V8 11 (Node 20), and
      // whatever is read of it is looked up: with the state of the parser, reading a document took four times as long.
      [
        /\.\.\.DEFAULT_PARSER_OPTIONS,\s+\.\.\.options,(?=\s+input: )/,
        'filename: options?.filename ?? "", maxDepth: options?.maxDepth ?? 100,',
      ],
      // What has neither tag (33) nor anchor (38), which is nearly every node, needs no copy of the state to return to: a
      // third of the parser's time while its code is not optimised, which is nearly all of a lint.
      [
        /(?<=const ch = state\.input\.charCodeAt\(state\.position\);)(?=\s+const propertyState = snapshotState\(state\);)/,
        ' if (ch !== 33 && ch !== 38) break;',
      ],
    ],
  },
  {
    file: /[\\/]commander[\\/]lib[\\/]command\.js$/,
    lines: [
      // Commander starts programs that lie beside a command, of which there are none: to be able to took 5 ms of every start.
      [
        "const childProcess = require('node:child_process');",
        "const childProcess = { spawn: (...call) => require('node:child_process').spawn(...call) };",
      ],
    ],
  },
]

/** @throws where the library is written in another way than this was made for */
export function rewritten(path, source) {
  const { lines } = REWRITES.find(({ file }) => file.test(path))
  return lines.reduce((text, [line, instead]) => {
    const pieces = text.split(line)
    if (pieces.length !== 2) throw new Error(`${path} has ${pieces.length - 1} places like ${line}`)
    return pieces.join(instead)
  }, source)
}

/** For esbuild. */
export const rewrites = {
  name: 'rewrites',
  setup({ onLoad }) {
    for (const { file } of REWRITES)
      onLoad({ filter: file }, ({ path }) => ({ contents: rewritten(path, readFileSync(path, 'utf8')) }))
  },
}
