/** Letters that look like others. Source: lint rules, id/confusable and security/mixed-script. */

/** Cyrillic and Greek letters that nobody can tell from the Latin ones. */
const LOOKALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...'аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwӏlкkмmтtнhвbгr'.matchAll(/(.)(.)/gu),
    ...'αaοoρpνvιiκkτtυuχxεe'.matchAll(/(.)(.)/gu),
  ].map(([, other, latin]) => [other!, latin!]),
)

/** What a name looks like: the same for names that people may take for one another. */
export const skeletonOf = (name: string): string =>
  isAscii(name)
    ? plain(name)
    : plain(name.normalize('NFKC')).replaceAll(/\P{ASCII}/gu, (letter) => LOOKALIKES[letter] ?? letter)

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, '')

/** True where every letter is what it looks like: each of them, and no other, is one byte. */
export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/** True for a word with letters of Latin and of a script that looks like it. */
export const isMixed = (text: string): boolean =>
  /[^ -~]/.test(text) && /\p{Script=Latin}/u.test(text) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(text)
