// Libraries as the program has them: the same, but for a few lines that cost much of a short command's time.
// test/documents/fast-parser.test.ts holds that js-yaml says the same of every text.
import { readFileSync } from 'node:fs'

/** For the parser of js-yaml, in whose words it is written: reads a node that is one word, or a few on the rest of a line. */
function readWords(state, parentIndent, nodeContext) {
  const { input, position } = state
  const words = WORDS[nodeContext]
  words.lastIndex = position
  if (!words.test(input)) return false
  const next = words.lastIndex
  if (nodeContext === CONTEXT_FLOW_IN || nodeContext === CONTEXT_FLOW_OUT) {
    addWordsEvent(state, position, next)
  } else {
    const lineEnd = input.indexOf('\n', position)
    const indent = next - lineEnd - 1
    // The text goes on there.
    if (indent > parentIndent) return false
    addWordsEvent(state, input.charCodeAt(position) === 32 ? position + 1 : position, lineEnd)
    state.line++
    state.lineStart = lineEnd + 1
    state.lineIndent = indent
    state.firstTabInLine = -1
  }
  state.position = next
  return true
}

/** That of a plain scalar. An object of constants is copied as a whole. */
function addWordsEvent(state, valueStart, valueEnd) {
  state.events.push({
    type: 4,
    valueStart,
    valueEnd,
    anchorStart: -1,
    anchorEnd: -1,
    tagStart: -1,
    tagEnd: -1,
    style: 1,
    chomping: 1,
    indent: -1,
    fast: true,
  })
}

/** By the parser's number of a context: what stands in brackets, a key, a text up to the first word of the next line. */
const WORD_IN_BRACKETS = /\w[\w.-]*(?=: |,| ?[}\]])/y
const WORD_AS_KEY = /\w[\w.-]*(?=:[ \n])/y
const WORDS_TO_NEXT_LINE = / ?[\w./$][ -"$-9;-~]*(?<! )\n *(?!\s)/y

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
      // Nearly every node is a word or a few. They are looked for first, by an expression, which is machine code from its
      // second use on, not by their letters after all other kinds of node: half of the time that was left.
      [
        /(?<=function parseNode.*\s+if \(state\.depth >= .*;)/,
        ' if (state.depth + 1 < state.maxDepth && readWords(state, parentIndent, nodeContext)) return true;',
      ],
      [
        /(?=function parseNode\()/,
        `var WORDS = [, ${WORD_IN_BRACKETS}, ${WORD_AS_KEY}, ${WORDS_TO_NEXT_LINE}, ${WORDS_TO_NEXT_LINE}];
${String(readWords)}
${String(addWordsEvent)}
`,
      ],
      // The state before a key is of use as long as it may be none.
      [/(?<=const beforeKey = )/, 'mappingOpened ? undefined : '],
      // Before a letter there is nothing to be passed over.
      [/(?<=function skipSeparationSpace.*\s+.*\s+let ch = .*;)/, ' if (ch > 35) return 0;'],
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
