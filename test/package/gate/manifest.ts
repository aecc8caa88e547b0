/** The manifest of a package as n8n and npm read it. */
export interface Manifest {
	[field: string]: unknown;
	repository?: { url?: string };
	n8n?: { nodes?: string[]; credentials?: string[] };
}

const forbidden = ['optionalDependencies', 'bundleDependencies', 'bundledDependencies'];

/** The rules of the gate that this manifest breaks and that are not among those of n8n's scanner (see scan.ts), in words. */
export function manifestFaults(manifest: Manifest): string[] {
	const rules: Array<[boolean, string]> = [
		[/github\.com/.test(manifest.repository?.url ?? ''), 'repository must be on GitHub'],
		...forbidden.map((field): [boolean, string] => [!(field in manifest), `must not have ${field}`]),
	];
	return rules.filter(([obeyed]) => !obeyed).map(([, rule]) => rule);
}
