/** Installs the packages of a folder from its lock file, once. @returns false where npm could not install them */
export function installTools(folder: string): boolean
