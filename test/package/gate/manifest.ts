/** The manifest of a package as n8n and npm read it. */
export interface Manifest {
	[field: string]: unknown;
	name?: string;
	keywords?: string[];
	author?: { name?: string; email?: string };
	repository?: { url?: string };
	scripts?: Record<string, string>;
	n8n?: { n8nNodesApiVersion?: number; nodes?: string[]; credentials?: string[] };
}

const forbidden = ['dependencies', 'optionalDependencies', 'bundleDependencies', 'bundledDependencies', 'overrides', 'resolutions'];
/** npm runs these on the machine that installs the package. */
const installScripts = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];

/** The rules of the gate that this manifest breaks, in words. */
export function manifestFaults(manifest: Manifest): string[] {
	const { name, keywords, author, repository, scripts, n8n, homepage } = manifest;
	const same = (field: string, value: unknown) =>
		JSON.stringify(manifest[field]) === JSON.stringify(value);
	const rules: Array<[boolean, string]> = [
		[/^n8n-nodes-[a-z-]+$/.test(name ?? ''), 'name must begin with n8n-nodes-'],
		[keywords?.includes('n8n-community-node-package') ?? false, 'keywords must include n8n-community-node-package'],
		[same('license', 'MIT'), 'license must be MIT'],
		[/^https:/.test(String(homepage)), 'homepage must be an address'],
		[/github\.com/.test(repository?.url ?? ''), 'repository must be on GitHub'],
		[Boolean(author?.name && author.email), 'author must have a name and an email'],
		[same('files', ['dist']), 'files must be dist and nothing else'],
		[same('peerDependencies', { 'n8n-workflow': '*' }), 'peerDependencies must be n8n-workflow *'],
		[n8n?.n8nNodesApiVersion === 1, 'n8n.n8nNodesApiVersion must be 1'],
		[Boolean(n8n?.nodes?.length), 'n8n.nodes must name the nodes'],
		[Boolean(n8n?.credentials?.length), 'n8n.credentials must name the credentials'],
		...forbidden.map((field): [boolean, string] => [!(field in manifest), `must not have ${field}`]),
		...installScripts.map((script): [boolean, string] => [!(script in (scripts ?? {})), `must not have a script ${script}`]),
	];
	return rules.filter(([obeyed]) => !obeyed).map(([, rule]) => rule);
}
