/**
 * The error for what a rule of docs/reference/service.md does not allow.
 *
 * @param rule its number
 * @param place where it is broken, such as a path and a member
 * @param problem what is wrong there, as a sentence
 */
export const ruleBroken = (rule: number, place: string, problem: string, advice = 'Please report this to the CRM’s support.'): Error =>
	new Error(`${place}: ${problem} This breaks rule ${rule} of what the nodes expect of a CRM. ${advice}`);
