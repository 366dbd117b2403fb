/** Patterns of names and paths that a person gives to select what is imported. */

const escapeRegExp = (text: string): string => text.replace(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
export const anyGlob = (glob: string): RegExp =>
  new RegExp(`^${escapeRegExp(glob).replace(/\*+/g, '.*').replace(/\?/g, '.')}$`, 's')
/** `*` stays within a segment, as in paths of files. */
export const pathGlob = (glob: string): RegExp =>
  new RegExp(
    `^${escapeRegExp(glob)
      .replace(/\*+/g, (stars) => (stars.length > 1 ? '.*' : '[^/]*'))
      .replace(/\?/g, '[^/]')}$`,
    's',
  )
