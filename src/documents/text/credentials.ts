/** Detects credentials in text. Source: docs/design/lint.md#secrets-in-documents */

/** The literal prefix of each vendor's keys, and the pattern of the rest. */
const VENDOR_KEYS: readonly (readonly [begins: string, follows: RegExp])[] = [
  // Models and inference.
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
  // Code, packages and CI.
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
  // Secret stores, monitoring and error tracking.
  ...['hvs', 'hvb', 'hvr'].map((kind) => [`${kind}.`, /[\w-]{20,}/] as const),
  ['dp.pt.', /[A-Za-z0-9]{30,}/],
  ['ops_eyJ', /[A-Za-z0-9+/]{60,}/],
  ['AGE-SECRET-KEY-1', /[A-Z0-9]{50,}/],
  ['glsa_', /\w{30,}/],
  ['glc_', /[A-Za-z0-9+/]{30,}/],
  ['sntrys_', /[\w+/=]{40,}/],
  ['NRAK-', /[A-Z0-9]{27}/],
  ['dt0c01.', /[A-Z0-9]{24}\.[A-Z0-9]{60,}/i],
  // Payments and shops.
  ...['sk', 'rk'].flatMap((kind) => ['live', 'test'].map((mode) => [`${kind}_${mode}_`, /[A-Za-z0-9]{16,}/] as const)),
  ['whsec_', /[A-Za-z0-9+/]{24,}/],
  ...['at', 'ca', 'pa', 'ss', 'ua'].map((kind) => [`shp${kind}_`, /[a-fA-F0-9]{32}/] as const),
  ...['atp', 'csp', 'idp'].map((kind) => [`sq0${kind}-`, /[\w-]{22,}/] as const),
  ['EAAA', /[\w-]{60}/],
  ['duffel_', /(?:test|live)_[\w-]{40,}/],
  // Messaging and office tools.
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
  // Any vendor.
  ['eyJ', /[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/],
  ['Bearer ', /(?=[A-Za-z._~+/-]*\d)[A-Za-z0-9._~+/-]{20,}/],
]

/** Patterns without a literal prefix. */
const UNPREFIXED: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/,
  // Telegram bot token.
  /\b\d{8,10}:AA[\w-]{33}\b/,
  // User name and password in a URL, unless the password is a placeholder.
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"'<{]*:(?!(?:pass(?:word)?|pwd|secret|token|\*+|x+|\.+|changeme)@)[^\s/@"'<>{}$]{3,}@/,
]

const escaped = (text: string): string => text.replaceAll(/[./]/g, String.raw`\$&`)
const oneOf = (sources: readonly string[]): string => `(?:${sources.join('|')})`

/** Quick test: most texts contain none of the prefixes. */
const PREFIXES = new RegExp(
  String.raw`\b${oneOf(VENDOR_KEYS.map(([begins]) => escaped(begins)))}|-----BEGIN|:AA|://[^\s/@]*:`,
)
const CREDENTIALS = new RegExp(
  [
    ...VENDOR_KEYS.map(([begins, follows]) => String.raw`\b${escaped(begins)}${follows.source}`),
    ...UNPREFIXED.map(({ source }) => source),
  ].join('|'),
  'g',
)

/** Placeholders that examples have instead of a key. */
const PLACEHOLDER = /([xX*0])\1{7}|your[-_]|[-_]here\b/i

/** Quick test for `NAMED_VALUE`: each of its names contains one of these words. */
const NAME_WORDS = /key|secret|token|passw/i

/** Minimum length of the value in `NAMED_VALUE`. */
const SHORTEST_NAMED = 16

/** False if neither the text nor a part of it can contain a credential. Cheap, for the common case. */
export const mayHoldCredential = (text: string): boolean => PREFIXES.test(text) || NAME_WORDS.test(text)

/** The beginning of an svc API key, complete or truncated. Source: docs/design/lint.md#secrets-in-documents */
const OWN_KEY = /\bsvc_[A-Za-z0-9]{20,}\b/

export const mayHoldOwnKey = (text: string): boolean => text.includes('svc_') && OWN_KEY.test(text)

export interface FoundCredential {
  /** Offset in the text. */
  readonly start: number
  readonly text: string
  /** The first characters only: a report must not repeat the credential. */
  readonly shown: string
}

export function findCredential(text: string): FoundCredential | undefined {
  return (PREFIXES.test(text) ? findForm(text) : undefined) ?? findNamed(text)
}

/** Requires a random rest, because the prefix alone may begin a name. */
export function findOwnKey(text: string): FoundCredential | undefined {
  if (!mayHoldOwnKey(text)) return undefined
  for (const match of text.matchAll(new RegExp(OWN_KEY, 'g')))
    if (isRandom(match[0].slice('svc_'.length)))
      return { start: match.index, text: match[0], shown: `${match[0].slice(0, 6)}…` }
  return undefined
}

/** Replaces everything that looks like a credential by as many asterisks. */
export function maskCredentials(line: string): string {
  if (!mayHoldCredential(line) && !mayHoldOwnKey(line)) return line
  let shown = ''
  let rest = line
  for (;;) {
    const found = [findForm(rest), findNamed(rest), findOwnKey(rest)].filter((each) => each !== undefined)
    const [first] = found.toSorted((a, b) => a.start - b.start)
    if (first === undefined) return shown + rest
    // In PEM, the key follows the first line.
    const isHead = first.text.startsWith('-----BEGIN')
    const from = first.start + (isHead ? first.text.length : first.shown.length - 1)
    const to = isHead ? rest.length : first.start + first.text.length
    shown += rest.slice(0, from) + '*'.repeat(to - from)
    rest = rest.slice(to)
  }
}

/** Masks what lies between the two lines of a private key; where the second is missing, everything after the first. */
export const maskPrivateKeys = (text: string): string =>
  text.replace(
    /(-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----)([\s\S]*?)(?=-----END |$)/g,
    (_, head: string, body: string) => head + body.replaceAll(/\S/g, '*'),
  )

function findForm(text: string): FoundCredential | undefined {
  for (const [found] of text.matchAll(CREDENTIALS)) {
    if (PLACEHOLDER.test(found)) continue
    return { start: text.indexOf(found), text: found, shown: `${found.slice(0, 6)}…` }
  }
  return undefined
}

/** The name of a secret with an assigned value: `password = "…"`. */
const NAMED_VALUE =
  /(?:(?:api|app|access|account|client|private)[_ -]?key|secret(?:[_-]?(?:access[_-]?)?key)?|token|password|passwd)["']?\s*(?:[:=]|\bis\b)\s*["']?([A-Za-z0-9+/=_.~-]{16,})/i

/** Requires a random value, which excludes `password: your-password-here`. */
function findNamed(text: string): FoundCredential | undefined {
  if (text.length < SHORTEST_NAMED || !NAME_WORDS.test(text)) return undefined
  const match = NAMED_VALUE.exec(text)
  const value = match?.[1]
  if (!match || value === undefined || !isRandom(value)) return undefined
  return { start: match.index + match[0].length - value.length, text: value, shown: `${value.slice(0, 4)}…` }
}

/** As `findNamed`, with the key of the value as its name. @param pointer of the value in its document */
export function findNamedValue(pointer: string, text: string): FoundCredential | undefined {
  if (text.length < SHORTEST_NAMED || /\s/.test(text)) return undefined
  return findNamed(`${pointer.slice(pointer.lastIndexOf('/') + 1)}: ${text}`)
}

/** Bits per character: English words have about 3, random letters and digits above 4, hexadecimal digits at most 4. */
const RANDOM_BITS = 3.5
const RANDOM_HEX_BITS = 3

/** True for text that looks generated: letters and digits with high entropy and few words. */
export function isRandom(text: string): boolean {
  if (!/\d/.test(text)) return false
  if (/^[0-9a-f]+$/i.test(text)) return text.length >= 32 && /[a-f]/i.test(text) && entropyOf(text) > RANDOM_HEX_BITS
  return /[a-z]/i.test(text) && lettersOfWords(text) * 2 < text.length && entropyOf(text) > RANDOM_BITS
}

/** Number of letters in words of at least four letters in lower, upper or title case. */
function lettersOfWords(text: string): number {
  let letters = 0
  for (const word of text.match(/[A-Za-z]{4,}/g) ?? [])
    if (/^(?:[A-Z]?[a-z]{4,}|[A-Z]{4,})$/.test(word)) letters += word.length
  return letters
}

/** Shannon entropy in bits per character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  return [...counts.values()].reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0)
}

/** Names of environment variables are rarely this long; random values often are. */
const LONG_NAME = 20

/** True for text that is a secret value and not the name of an environment variable. */
export function looksLikeValue(text: string): boolean {
  if (/^[A-Z_]{1,14}$/.test(text)) return false
  if (findCredential(text) !== undefined || findOwnKey(text) !== undefined) return true
  if (
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) &&
    !(text.length >= LONG_NAME && /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text))
  )
    return false
  return text.length >= LONG_NAME || /^(?:sk|pk|key|token)[-_]/.test(text)
}
