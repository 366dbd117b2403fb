/** The package.json of the image. */
export function imageManifest(): object
