#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "support/temp_folder.h"

namespace outrider::live {

// An authority and a server certificate for the given names, made with openssl for one test run.
class Certificates {
public:
    // `names`: "IP:127.0.0.1,DNS:localhost".
    explicit Certificates(const std::string& names) {
        run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test-ca"
            " -keyout ca.key -out ca.pem");
        run("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server"
            " -keyout server.key -out server.csr");
        run("x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2"
            " -extfile <(echo subjectAltName=" +
            names + ") -out server.pem");
        // A server may run as a user of its own.
        shell("chmod 755 . && chmod 644 *");
    }

    [[nodiscard]] std::string authority() const { return folder_.file("ca.pem"); }
    [[nodiscard]] std::string certificate() const { return folder_.file("server.pem"); }
    [[nodiscard]] std::string key() const { return folder_.file("server.key"); }

private:
    void run(const std::string& arguments) const { shell("openssl " + arguments); }

    void shell(const std::string& command) const {
        const std::string line =
            "cd '" + folder_.path().string() + "' && bash -c '" + command + "' >>log 2>&1";
        if (std::system(line.c_str()) != 0) throw std::runtime_error("failed: " + command);
    }

    TempFolder folder_;
};

}  // namespace outrider::live
