import { document } from './contract.ts';

type Methods = Record<string, { responses: object } | undefined>;

const paths: Record<string, Methods> = document.paths;

const templates = Object.keys(paths).map((path) => ({
	path,
	// A path without parameters comes first: /v1/users/me is not /v1/users/{id}.
	parameters: path.split('{').length,
	pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));
templates.sort((a, b) => a.parameters - b.parameters);

/**
 * Tells tests of an answer that the contract does not know.
 *
 * @throws Error
 */
export function refuseUndescribed(method: string, url: string, status: number): void {
	const [pathname = ''] = url.split('?');
	const found = templates.find(({ pattern }) => pattern.test(pathname));
	const operation = found && paths[found.path]?.[method.toLowerCase()];
	if (!operation || String(status) in operation.responses) return;
	throw new Error(`${method} ${found.path} is not described to answer ${status}.`);
}
