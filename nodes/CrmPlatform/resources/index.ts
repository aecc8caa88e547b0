import type { Resource } from '../model';
import { company } from './company';
import { contact } from './contact';

/** The menu: every kind of record the node offers, in the order shown. */
export const resources: Resource[] = [company, contact];

/** The kind of record a workflow names. */
export function resourceNamed(value: string): Resource | undefined {
	return resources.find((resource) => resource.value === value);
}
