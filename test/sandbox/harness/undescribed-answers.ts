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
 * Checks that the contract describes a response.
 *
 * @throws Error if it does not
 */
export function refuseUndescribed(method: string, url: string, status: number): void {
	const [pathname = ''] = url.split('?');
	const found = templates.find(({ pattern }) => pattern.test(pathname));
	const operation = found && paths[found.path]?.[method.toLowerCase()];
	if (!operation || String(status) in operation.responses) return;
	throw new Error(`The contract does not describe ${status} as a response to ${method} ${found.path}.`);
}
