/** What credentials look like. Source: lint rules, secret/literal. */

/** How keys of vendors begin, literally, and how they go on: vendors give them a form so that scanners may find them. */
const VENDORS: readonly (readonly [begins: string, follows: RegExp])[] = [
  // Models and what serves them.
  ...['ant-', 'proj-', 'svcacct-', 'admin-', 'or-v1-', 'lf-', 'live-', 'test-'].map(
    (kind) => [`sk-${kind}`, /[A-Za-z0-9_-]{12,}/] as const,
  ),
  ['sk-', /(?:[A-Za-z0-9]{20,}|(?=[A-Za-z_-]*\d[A-Za-z0-9_-]*\d)[A-Za-z0-9]{8,}[A-Za-z0-9_-]{8,})/],
  ['hf_', /[A-Za-z0-9]{20,}/],
  ['api_org_', /[A-Za-z]{30,}/],
  ['gsk_', /[A-Za-z0-9]{40,}/],
  ['xai-', /[A-Za-z0-9]{60,}/],
  ['pplx-', /[A-Za-z0-9]{40,}/],
  ['r8_', /[A-Za-z0-9]{37}/],
  ['nvapi-', /[\w-]{50,}/],
  ['tvly-', /[A-Za-z0-9-]{24,}/],
  ['lsv2_', /(?:pt|sk)_[0-9a-f]{32}/],
  ['csk-', /[a-z0-9]{40,}/],
  // Clouds.
  ...['AKIA', 'ASIA', 'ABIA', 'ACCA'].map((kind) => [kind, /[A-Z0-9]{16}\b/] as const),
  ['AIza', /[\w-]{30,}/],
  ['GOCSPX-', /[\w-]{20,}/],
  ['ya29.', /[\w-]{20,}/],
  ['1//0', /[\w-]{30,}/],
  ['AccountKey=', /[A-Za-z0-9+/]{40,}={0,2}/],
  ['SharedAccessKey=', /[A-Za-z0-9+/]{30,}={0,2}/],
  ['sig=', /[A-Za-z0-9%+/]{20,}%3D/],
  ['LTAI', /[A-Za-z0-9]{20}\b/],
  ...['dop', 'doo', 'dor'].map((kind) => [`${kind}_v1_`, /[a-f0-9]{40,}/] as const),
  ['HRKU-', /[\w-]{30,}/],
  ['dapi', /[a-f0-9]{32}/],
  ['fo1_', /[\w-]{40,}/],
  ['tskey-', /[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}/],
  ['pscale_tkn_', /[\w=.-]{30,}/],
  ['sbp_', /[a-f0-9]{40}/],
  // Code, packages and their pipelines.
  ...['ghp', 'gho', 'ghu', 'ghs', 'ghr'].map((kind) => [`${kind}_`, /[A-Za-z0-9]{20,}/] as const),
  ['github_pat_', /\w{20,}/],
  ...['pat', 'dt', 'rt', 'ptt', 'cbt', 'ft', 'soat', 'imt', 'agent', 'oas'].map(
    (kind) => [`gl${kind}-`, /[\w-]{16,}/] as const,
  ),
  ['GR1348941', /[\w-]{20}/],
  ['npm_', /[A-Za-z0-9]{30,}/],
  ['pypi-', /AgE[\w-]{20,}/],
  ['rubygems_', /[a-f0-9]{40,}/],
  ['dckr_pat_', /[\w-]{20,}/],
  ['CCIPAT_', /\w{30,}/],
  ['sgp_', /(?:[a-f0-9]{16}_)?[a-f0-9]{40}/],
  // Secrets, measures and errors.
  ...['hvs', 'hvb', 'hvr'].map((kind) => [`${kind}.`, /[\w-]{20,}/] as const),
  ['dp.pt.', /[A-Za-z0-9]{30,}/],
  ['ops_eyJ', /[A-Za-z0-9+/]{60,}/],
  ['AGE-SECRET-KEY-1', /[A-Z0-9]{50,}/],
  ['glsa_', /\w{30,}/],
  ['glc_', /[A-Za-z0-9+/]{30,}/],
  ['sntrys_', /[\w+/=]{40,}/],
  ['NRAK-', /[A-Z0-9]{27}/],
  ['dt0c01.', /[A-Z0-9]{24}\.[A-Z0-9]{60,}/i],
  // Money and shops.
  ...['sk', 'rk'].flatMap((kind) => ['live', 'test'].map((mode) => [`${kind}_${mode}_`, /[A-Za-z0-9]{16,}/] as const)),
  ['whsec_', /[A-Za-z0-9+/]{24,}/],
  ...['at', 'ca', 'pa', 'ss', 'ua'].map((kind) => [`shp${kind}_`, /[a-fA-F0-9]{32}/] as const),
  ...['atp', 'csp', 'idp'].map((kind) => [`sq0${kind}-`, /[\w-]{22,}/] as const),
  ['EAAA', /[\w-]{60}/],
  ['duffel_', /(?:test|live)_[\w-]{40,}/],
  // Messages and work.
  ...['a', 'b', 'e', 'o', 'p', 'r', 's'].map((kind) => [`xox${kind}-`, /[A-Za-z0-9-]{10,}/] as const),
  ['xapp-', /\d-[A-Z0-9]+-\d+-[a-z0-9]+/],
  ['hooks.slack.com/', /(?:services|workflows|triggers)\/[\w+/]{40,}/],
  ['discord.com/api/webhooks/', /\d{17,20}\/[\w-]{60,}/],
  ['SG.', /[\w-]{16,}\.[\w-]{16,}/],
  ['SK', /[0-9a-f]{32}\b/],
  ['key-', /[0-9a-f]{32}\b/],
  ['lin_api_', /[A-Za-z0-9]{32,}/],
  ['lin_oauth_', /[a-f0-9]{32,}/],
  ['ntn_', /[A-Za-z0-9]{40,}/],
  ['secret_', /[A-Za-z0-9]{43}\b/],
  ...['d', 'o', 'u', 'r'].map((kind) => [`fig${kind}_`, /[\w-]{30,}/] as const),
  ['PMAK-', /[a-f0-9]{24}-[a-f0-9]{34}/],
  ...['ATATT3', 'ATCTT3', 'ATBB'].map((kind) => [kind, /[\w=-]{28,}/] as const),
  ['pat-', /(?:na|eu)\d-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/],
  // Anybody's.
  ['eyJ', /[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/],
  ['Bearer ', /(?=[A-Za-z._~+/-]*\d)[A-Za-z0-9._~+/-]{20,}/],
]

/** Forms that begin with no word. */
const OTHERS: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/,
  // A bot of Telegram.
  /\b\d{8,10}:AA[\w-]{33}\b/,
  // A name and a password in an address, unless they are shown as such.
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"'<{]*:(?!(?:pass(?:word)?|pwd|secret|token|\*+|x+|\.+|changeme)@)[^\s/@"'<>{}$]{3,}@/,
]

const escaped = (text: string): string => text.replaceAll(/[./]/g, String.raw`\$&`)
const oneOf = (sources: readonly string[]): string => `(?:${sources.join('|')})`

/** How each of the forms begins: most texts hold none of these. */
const BEGINNINGS = new RegExp(
  String.raw`\b${oneOf(VENDORS.map(([begins]) => escaped(begins)))}|-----BEGIN|:AA|://[^\s/@]*:`,
)
const FORMS = new RegExp(
  [
    ...VENDORS.map(([begins, follows]) => String.raw`\b${escaped(begins)}${follows.source}`),
    ...OTHERS.map(({ source }) => source),
  ].join('|'),
  'g',
)

/** What stands in place of a key in examples. */
const PLACEHOLDER = /([xX*0])\1{7}|your[-_]|[-_]here\b/i

/** Words of which one stands in every name that `NAMED` knows. */
const NAMES = /key|secret|token|passw/i

/** Characters of the shortest of them: the value of a named one has more. */
export const SHORTEST_CREDENTIAL = 15
/** Characters of a named value, as `NAMED` says. */
const SHORTEST_NAMED = 16

/** False for a text in which no credential can be, nor in any part of it: most that is linted. */
export const mayHoldCredential = (text: string): boolean =>
  BEGINNINGS.test(text) || (NAMES.test(text) && mayHoldNamed(text))

/** False where no run of the characters of keys is one that a person did not make up. */
const mayHoldNamed = (text: string): boolean => text.match(RUNS)?.some(mayBeValue) ?? false

/** What a named value is made of. */
const OF_RUN = '[A-Za-z0-9+/=_.~-]'
/** Runs that are as long as one, written out: a repetition that is counted takes four times as long. */
const RUNS = new RegExp(`${OF_RUN.repeat(SHORTEST_NAMED)}${OF_RUN}*`, 'g')

/** False where no value in a run is random: it is the whole run, unless something is in it after which one begins. */
const mayBeValue = (run: string): boolean => /\d/.test(run) && (/=|^is\b/i.test(run) || isRandom(run))

/** How an API key of ours begins, whole or cut. Source: decisions, section 1; lint rules, secret/own-api-key. */
const OWN_KEY = /\bsvc_[A-Za-z0-9]{20,}\b/

export const mayHoldOwnKey = (text: string): boolean => text.includes('svc_') && OWN_KEY.test(text)

export interface FoundCredential {
  /** Offset in the text. */
  readonly start: number
  readonly text: string
  /** Its beginning only: a report must not spread what it warns of. */
  readonly shown: string
}

export function findCredential(text: string): FoundCredential | undefined {
  return (BEGINNINGS.test(text) ? findForm(text) : undefined) ?? findNamed(text)
}

/** The prefix alone may begin a name: what follows is random. */
export function findOwnKey(text: string): FoundCredential | undefined {
  if (!mayHoldOwnKey(text)) return undefined
  for (const match of text.matchAll(new RegExp(OWN_KEY, 'g')))
    if (isRandom(match[0].slice('svc_'.length)))
      return { start: match.index, text: match[0], shown: `${match[0].slice(0, 6)}…` }
  return undefined
}

/** A line as a report may show it: as long as it is, with stars in place of what looks like a credential. */
export function maskCredentials(line: string): string {
  if (!mayHoldCredential(line) && !mayHoldOwnKey(line)) return line
  let shown = ''
  let rest = line
  for (;;) {
    const found = [findForm(rest), findNamed(rest), findOwnKey(rest)].filter((each) => each !== undefined)
    const [first] = found.toSorted((a, b) => a.start - b.start)
    if (first === undefined) return shown + rest
    // What follows the first line of a key in PEM is the key.
    const isHead = first.text.startsWith('-----BEGIN')
    const from = first.start + (isHead ? first.text.length : first.shown.length - 1)
    const to = isHead ? rest.length : first.start + first.text.length
    shown += rest.slice(0, from) + '*'.repeat(to - from)
    rest = rest.slice(to)
  }
}

function findForm(text: string): FoundCredential | undefined {
  for (const [found] of text.matchAll(FORMS)) {
    if (PLACEHOLDER.test(found)) continue
    return { start: text.indexOf(found), text: found, shown: `${found.slice(0, 6)}…` }
  }
  return undefined
}

/** A name of a secret, and a value that is assigned to it: `password = "…"`. */
const NAMED =
  /(?:(?:api|app|access|account|client|private)[_ -]?key|secret(?:[_-]?(?:access[_-]?)?key)?|token|password|passwd)["']?\s*(?:[:=]|\bis\b)\s*["']?([A-Za-z0-9+/=_.~-]{16,})/i

/** A value beside the name of a secret is one when it is random: that is what keeps `password: your-password-here` out. */
function findNamed(text: string): FoundCredential | undefined {
  if (text.length < SHORTEST_NAMED || !NAMES.test(text)) return undefined
  const match = NAMED.exec(text)
  const value = match?.[1]
  if (!match || value === undefined || !isRandom(value)) return undefined
  return { start: match.index + match[0].length - value.length, text: value, shown: `${value.slice(0, 4)}…` }
}

/** The same where the name is the key under which the value stands. @param pointer of the value in its document */
export function findNamedValue(pointer: string, text: string): FoundCredential | undefined {
  if (text.length < SHORTEST_NAMED || /\s/.test(text)) return undefined
  return findNamed(`${pointer.slice(pointer.lastIndexOf('/') + 1)}: ${text}`)
}

/** Bits a character: English words have about 3, random letters and digits above 4; hexadecimal digits at most 4. */
const RANDOM_BITS = 3.5
const RANDOM_HEX_BITS = 3

/** True for a text that no person made up: many different characters of several kinds, and no words. */
export function isRandom(text: string): boolean {
  if (!/\d/.test(text)) return false
  if (/^[0-9a-f]+$/i.test(text)) return text.length >= 32 && /[a-f]/i.test(text) && entropyOf(text) > RANDOM_HEX_BITS
  return /[a-z]/i.test(text) && lettersOfWords(text) * 2 < text.length && entropyOf(text) > RANDOM_BITS
}

/** Letters in words of four or more: small ones, small ones after a capital, or capitals. */
function lettersOfWords(text: string): number {
  let letters = 0
  for (const word of text.match(/[A-Za-z]{4,}/g) ?? [])
    if (/^(?:[A-Z]?[a-z]{4,}|[A-Z]{4,})$/.test(word)) letters += word.length
  return letters
}

/** Shannon's measure, in bits a character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  return [...counts.values()].reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0)
}

/** Longer names of environment variables are rare, longer random texts are not. */
const LONG = 20

/** True for a text that is a secret rather than the name of a variable that holds one. */
export function looksLikeValue(text: string): boolean {
  if (/^[A-Z_]{1,14}$/.test(text)) return false
  if (findCredential(text) !== undefined || findOwnKey(text) !== undefined) return true
  if (
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) &&
    !(text.length >= LONG && /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text))
  )
    return false
  return text.length >= LONG || /^(?:sk|pk|key|token)[-_]/.test(text)
}
