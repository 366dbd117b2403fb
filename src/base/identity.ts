/** Compares the names by which people identify themselves: email addresses and names of local users. */

/** Characters that are shown as nothing, so that names which look alike would differ by them. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/**
 * The form in which identities are stored and compared: two spellings of one address are one person. Compatibility forms such as
 * full-width letters become plain ones (NFKC), and case is folded.
 */
export const foldIdentity = (name: string): string => fold(fold(name))

// Twice, since folding can yield characters that normalise once more. Upper case first unites `ß` with `ss` and `ſ` with `s`.
const fold = (name: string): string =>
  name.normalize('NFKC').replaceAll(INVISIBLE, '').trim().toUpperCase().toLowerCase().normalize('NFKC')
