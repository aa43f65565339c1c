"""unittest: one server per class, reset before each test. TENANTRY names the program."""

import os
import pathlib
import unittest

from tenantry import ApiError, Tenantry, send

SEED = pathlib.Path(__file__).parent.parent / "seed.json"


def take_in(url, token, company, project, manager):
    """The application: creates a customer with a project and an invitation for its manager."""
    def post(path, body):
        return send("POST", url + path, f"Token {token}", body)

    customer = post("/api/customers/", {"name": company})
    made = post("/api/projects/", {"name": project, "customer": customer["url"]})
    post(
        "/api/user-invitations/",
        {
            "email": manager,
            "project": made["url"],
            "project_role": "manager",
            "link_template": "https://app.example.com/welcome/{uuid}/",
        },
    )


class OnboardingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Tenantry("node", os.environ["TENANTRY"], seed=str(SEED), clock="2026-01-05T09:00:00Z")
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        self.server.reset()

    def test_customer_gets_a_project_and_an_invitation(self):
        take_in(self.server.url, self.server.token, "Bolt", "Rides", "eve@example.com")
        names = [customer["name"] for customer in self.server.get_as("admin", "/api/customers/?o=name")]
        self.assertEqual(names, ["Acme", "Bolt"])
        types = [event["event_type"] for event in self.server.events()]
        self.assertEqual(types, ["customer_creation_succeeded", "project_creation_succeeded"])
        [mail] = self.server.mails()
        self.assertEqual(mail["to"], "eve@example.com")
        self.assertRegex(mail["text"], r"https://app\.example\.com/welcome/[0-9a-f]{32}/")

    def test_nothing_is_left_of_the_test_before(self):
        self.assertEqual([self.server.events(), self.server.mails()], [[], []])

    def test_machine_that_cannot_be_stopped_is_erred(self):
        self.server.fail_next("DigitalOcean.Droplet", "stop", "The host is away")
        machine = self.server.seeded("web")["url"]
        send("POST", f"{machine}stop/", f"Token {self.server.token}")
        self.server.advance("1m")
        [erred] = self.server.get_as("admin", "/api/resources/?state=Erred")
        self.assertEqual(erred["error_message"], "The host is away")

    def test_snapshots(self):
        take_in(self.server.url, self.server.token, "Bolt", "Rides", "eve@example.com")
        self.server.snapshot("two customers")
        self.server.reset()
        self.assertEqual(len(self.server.get_as("admin", "/api/customers/")), 1)
        self.server.restore("two customers")
        self.assertEqual(len(self.server.get_as("admin", "/api/customers/")), 2)
        with self.assertRaises(ApiError) as error:
            self.server.restore("three")
        self.assertEqual(error.exception.status, 400)

    def test_manager_sees_the_project_until_the_role_ends(self):
        self.assertEqual(len(self.server.get_as("bob", "/api/projects/")), 1)
        self.server.advance("30d")
        self.assertEqual(self.server.get_as("bob", "/api/projects/"), [])

    def test_token_ends(self):
        self.server.advance("2h")
        with self.assertRaises(ApiError) as error:
            send("GET", f"{self.server.url}/api/customers/", f"Token {self.server.token}")
        self.assertEqual(error.exception.status, 401)


if __name__ == "__main__":
    unittest.main()
