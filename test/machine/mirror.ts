// Which Debian archive this computer already trusts: the one its own packages come from, read from apt's source files
// (one-line and deb822 form).

export interface Archive {
  readonly suite: string
  readonly mirror: string
}

/** The first http, https or file archive that has the computer's own release with the component main. */
export function mirrorOf(sources: readonly { name: string; text: string }[], osRelease: string): Archive {
  const suite = /^VERSION_CODENAME="?([a-z]+)"?$/m.exec(osRelease)?.[1]
  if (!suite) throw new Error('/etc/os-release names no VERSION_CODENAME, so there is no suite to bootstrap')
  const archives = sources.flatMap(({ name, text }) => (name.endsWith('.sources') ? deb822(text) : oneLine(text)))
  const found = archives.find(
    ({ uri, suites, components }) =>
      /^(https?|file):/.test(uri) && suites.includes(suite) && components.includes('main'),
  )
  if (!found) throw new Error(`no source in /etc/apt has the suite ${suite} with the component main`)
  return { suite, mirror: found.uri }
}

interface Source {
  readonly uri: string
  readonly suites: readonly string[]
  readonly components: readonly string[]
}

function oneLine(text: string): Source[] {
  return [...text.matchAll(/^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s+(.*)$/gm)].map(
    ([, uri = '', suite = '', components = '']) => ({ uri, suites: [suite], components: words(components) }),
  )
}

function deb822(text: string): Source[] {
  const stanzas = text.replaceAll(/^#.*\n/gm, '').split(/\n\s*\n/)
  return stanzas.flatMap(stanza => {
    const field = (name: string) => words(new RegExp(`^${name}:((?:.*)(?:\\n[ \\t].*)*)`, 'im').exec(stanza)?.[1] ?? '')
    if (!field('Types').includes('deb') || field('Enabled')[0] === 'no') return []
    return field('URIs').map(uri => ({ uri, suites: field('Suites'), components: field('Components') }))
  })
}

const words = (text: string) => text.split(/\s+/).filter(word => word !== '')
