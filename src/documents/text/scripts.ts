/** Look-alike letters. Source: docs/design/lint.md#misleading-text */

/** Cyrillic and Greek letters that look like Latin ones. */
const LOOKALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...'аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwӏlкkмmтtнhвbгr'.matchAll(/(.)(.)/gu),
    ...'αaοoρpνvιiκkτtυuχxεe'.matchAll(/(.)(.)/gu),
  ].map(([pair]) => Array.from(pair)),
)

/** A normalized form that is equal for names that look alike. */
export const skeletonOf = (name: string): string =>
  isAscii(name)
    ? plain(name)
    : plain(name.normalize('NFKC')).replaceAll(/\P{ASCII}/gu, (letter) => LOOKALIKES[letter] ?? letter)

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, '')

/** True for ASCII text, which has no look-alike letters. */
export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/** True for a word with Latin and Cyrillic or Greek letters. */
export const isMixed = (text: string): boolean =>
  /[^ -~]/.test(text) && /\p{Script=Latin}/u.test(text) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(text)
